-- What takes more than writing one table.

DO $type$
BEGIN
    IF to_regtype('app.mutation_response') IS NULL THEN
        CREATE TYPE app.mutation_response AS (
            status text, message text, entity_id text, entity_type text, entity jsonb,
            updated_fields text[], cascade jsonb, metadata jsonb
        );
    END IF;
END
$type$;

-- Takes stock and writes the order. Customers may write neither table, so it runs as its owner, whom policies do not
-- bind: each statement compares the tenant itself.
CREATE OR REPLACE FUNCTION app.place_order(lines jsonb) RETURNS app.mutation_response LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    response app.mutation_response;
    tenant uuid := app.tenant_id();
    line record;
    product tb_product;
    placed uuid := gen_random_uuid();
BEGIN
    IF NOT EXISTS (SELECT FROM tb_customer WHERE tenant_id = tenant AND id = app.user_id()) THEN
        response.status := 'forbidden:no_customer';
        response.message := 'only customers of the shop order';
        RETURN response;
    END IF;
    IF jsonb_array_length(lines) = 0 THEN
        response.status := 'validation:empty';
        response.message := 'an order has at least one line';
        RETURN response;
    END IF;
    UPDATE tb_tenant SET last_order = last_order + 1 WHERE id = tenant;
    INSERT INTO tb_order (tenant_id, id, number, customer_id)
        SELECT tenant, placed, last_order, app.user_id() FROM tb_tenant WHERE id = tenant;
    -- In one order for all, so that two orders never wait for each other.
    FOR line IN
        SELECT l.product_id, sum(l.quantity)::integer AS quantity
        FROM jsonb_to_recordset(lines) AS l (product_id uuid, quantity integer) GROUP BY 1 ORDER BY 1
    LOOP
        SELECT * INTO product FROM tb_product
            WHERE tenant_id = tenant AND id = line.product_id AND published FOR UPDATE;
        IF product.id IS NULL THEN
            response.status := 'not_found:product';
            response.message := 'there is no such product';
            RETURN response;
        END IF;
        IF product.stock < line.quantity THEN
            response.status := 'conflict:sold_out';
            response.message := format('%s: %s left', product.name, product.stock);
            response.entity_id := product.id;
            response.metadata := jsonb_build_object('left', product.stock);
            RETURN response;
        END IF;
        UPDATE tb_product SET stock = stock - line.quantity WHERE tenant_id = tenant AND id = product.id;
        INSERT INTO tb_order_line (tenant_id, order_id, product_id, quantity, price)
            VALUES (tenant, placed, product.id, line.quantity, product.price);
    END LOOP;
    response.status := 'created';
    response.entity_id := placed;
    RETURN response;
END $$;

-- Puts the stock back. The customer who ordered may, and the staff.
CREATE OR REPLACE FUNCTION app.cancel_order("order" uuid) RETURNS app.mutation_response LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    response app.mutation_response;
    tenant uuid := app.tenant_id();
    found_order tb_order;
BEGIN
    SELECT * INTO found_order FROM tb_order
        WHERE tenant_id = tenant AND id = "order" AND (customer_id = app.user_id() OR app.is_staff()) FOR UPDATE;
    IF found_order.id IS NULL THEN
        response.status := 'not_found:order';
        response.message := 'there is no such order';
        RETURN response;
    END IF;
    IF found_order.status <> 'placed' THEN
        response.status := 'conflict:' || found_order.status;
        response.message := format('the order is %s', found_order.status);
        RETURN response;
    END IF;
    -- In the order in which orders take it.
    PERFORM FROM tb_product WHERE tenant_id = tenant AND id IN (
        SELECT product_id FROM tb_order_line WHERE tenant_id = tenant AND order_id = "order") ORDER BY id FOR UPDATE;
    UPDATE tb_product AS p SET stock = p.stock + l.quantity FROM tb_order_line AS l
        WHERE l.tenant_id = tenant AND l.order_id = "order" AND p.tenant_id = tenant AND p.id = l.product_id;
    UPDATE tb_order SET status = 'cancelled' WHERE tenant_id = tenant AND id = "order";
    response.status := 'updated';
    response.entity_id := "order";
    RETURN response;
END $$;

-- Replaces the categories of a product, and their order. It runs as its caller, so the policies see to the rest.
CREATE OR REPLACE FUNCTION app.set_categories(product uuid, categories uuid[]) RETURNS uuid LANGUAGE plpgsql
    SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tb_product WHERE id = product) THEN
        RAISE EXCEPTION 'there is no such product';
    END IF;
    DELETE FROM tb_product_category WHERE product_id = product AND category_id <> ALL (categories);
    INSERT INTO tb_product_category (product_id, category_id, position)
        SELECT product, id, min(place) FROM unnest(categories) WITH ORDINALITY AS given (id, place) GROUP BY id
        ON CONFLICT (tenant_id, product_id, category_id) DO UPDATE SET position = excluded.position;
    RETURN product;
END $$;
