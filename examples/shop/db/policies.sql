-- Who sees and writes which rows: each policy names the tenant first, then who within it.
-- `(SELECT …)` runs once for a statement, and not for each row.

DO $policies$
DECLARE
    made record;
BEGIN
    FOR made IN SELECT schemaname, tablename, policyname FROM pg_policies WHERE schemaname = 'public' LOOP
        EXECUTE format('DROP POLICY %I ON %I.%I', made.policyname, made.schemaname, made.tablename);
    END LOOP;
END
$policies$;

ALTER TABLE tb_tenant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tb_tenant FOR SELECT USING (id = (SELECT app.tenant_id()));

-- What the shop offers is for everybody; what is not published yet, and all changes, are for its staff.
ALTER TABLE tb_category ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_category FOR SELECT USING (tenant_id = (SELECT app.tenant_id()));
CREATE POLICY written ON tb_category
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_staff()));

ALTER TABLE tb_product ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_product FOR SELECT
    USING (tenant_id = (SELECT app.tenant_id()) AND (published OR (SELECT app.is_staff())));
CREATE POLICY written ON tb_product
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_staff()));

ALTER TABLE tb_product_category ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_product_category FOR SELECT USING (tenant_id = (SELECT app.tenant_id()));
CREATE POLICY written ON tb_product_category
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_staff()));

-- A customer is known to the shop, and to nobody else.
ALTER TABLE tb_customer ENABLE ROW LEVEL SECURITY;
CREATE POLICY customer ON tb_customer
    USING (tenant_id = (SELECT app.tenant_id()) AND (id = (SELECT app.user_id()) OR (SELECT app.is_staff())));

-- Orders are written by functions alone.
ALTER TABLE tb_order ENABLE ROW LEVEL SECURITY;
CREATE POLICY customer ON tb_order FOR SELECT
    USING (tenant_id = (SELECT app.tenant_id()) AND (customer_id = (SELECT app.user_id()) OR (SELECT app.is_staff())));

ALTER TABLE tb_order_line ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_order ON tb_order_line FOR SELECT
    USING (tenant_id = (SELECT app.tenant_id()) AND EXISTS (
        SELECT FROM tb_order AS o WHERE o.tenant_id = tb_order_line.tenant_id AND o.id = tb_order_line.order_id));

-- Everybody reads reviews. Customers write their own; staff may remove any.
ALTER TABLE tb_review ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON tb_review FOR SELECT USING (tenant_id = (SELECT app.tenant_id()));
CREATE POLICY own ON tb_review
    USING (tenant_id = (SELECT app.tenant_id()) AND customer_id = (SELECT app.user_id()));
CREATE POLICY removed ON tb_review FOR DELETE
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_staff()));
-- A row is locked before it is removed, which asks the policies of updates. The staff changes none.
CREATE POLICY locked ON tb_review FOR UPDATE
    USING (tenant_id = (SELECT app.tenant_id()) AND (SELECT app.is_staff())) WITH CHECK (false);
