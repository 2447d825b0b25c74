-- Tells subscribers of orders, whoever writes them. The policies of each subscriber decide who hears of which.
CREATE OR REPLACE TRIGGER tb_order_changed AFTER INSERT OR UPDATE ON tb_order
    FOR EACH ROW EXECUTE FUNCTION svc_notify('order_changed');
