-- The functions of the mutations. Each returns a status, and the id of the row that it wrote.

-- Variants are locked in the order of their keys, so that two orders of the same variants never wait for each other.
CREATE OR REPLACE FUNCTION fn_place_order(input jsonb) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
    customer bigint := (SELECT pk_customer FROM tb_customer WHERE id = (input->>'customer_id')::uuid);
    new_order bigint;
    line record;
BEGIN
    IF customer IS NULL THEN
        response.status := 'not_found:customer';
        response.message := 'there is no such customer';
        RETURN response;
    END IF;
    IF jsonb_array_length(input->'lines') = 0 THEN
        response.status := 'validation:empty';
        response.message := 'an order has at least one line';
        RETURN response;
    END IF;
    INSERT INTO tb_order (fk_customer) VALUES (customer) RETURNING pk_order, id INTO new_order, response.entity_id;
    FOR line IN
        SELECT l.variant_id, l.quantity, v.pk_variant, v.stock, v.price
        FROM (SELECT variant_id, sum(quantity)::integer AS quantity
              FROM jsonb_to_recordset(input->'lines') AS l (variant_id uuid, quantity integer)
              GROUP BY variant_id) AS l
        LEFT JOIN tb_variant AS v ON v.id = l.variant_id
        ORDER BY v.pk_variant
    LOOP
        -- This locks the row and checks its current stock: the stock that the loop has read may be outdated.
        UPDATE tb_variant SET stock = stock - line.quantity
        WHERE pk_variant = line.pk_variant AND stock >= line.quantity AND line.quantity > 0;
        IF NOT FOUND THEN
            response.entity_id := NULL;
            response.status := CASE WHEN line.pk_variant IS NULL THEN 'not_found:variant'
                                    WHEN line.quantity <= 0 THEN 'validation:quantity'
                                    ELSE 'conflict:out_of_stock' END;
            response.message := CASE WHEN line.pk_variant IS NULL THEN 'there is no such variant'
                                     WHEN line.quantity <= 0 THEN 'a quantity is at least 1'
                                     ELSE 'there are not enough left' END;
            RETURN response;
        END IF;
        INSERT INTO tb_order_line (fk_order, fk_variant, quantity, price)
        VALUES (new_order, line.pk_variant, line.quantity, line.price);
    END LOOP;
    response.status := 'created';
    RETURN response;
END $$;

CREATE OR REPLACE FUNCTION fn_cancel_order(id uuid) RETURNS mutation_response LANGUAGE plpgsql AS $$
DECLARE
    response mutation_response;
    cancelled bigint;
BEGIN
    UPDATE tb_order SET status = 'cancelled' WHERE tb_order.id = fn_cancel_order.id AND status = 'placed'
    RETURNING pk_order INTO cancelled;
    IF cancelled IS NULL THEN
        response.status := CASE WHEN EXISTS (SELECT FROM tb_order WHERE tb_order.id = fn_cancel_order.id)
                                THEN 'conflict:too_late' ELSE 'not_found:order' END;
        response.message := CASE response.status WHEN 'conflict:too_late'
                                THEN 'only an order that is placed can be cancelled' ELSE 'there is no such order' END;
        RETURN response;
    END IF;
    UPDATE tb_variant SET stock = stock + quantity
    FROM tb_order_line WHERE fk_order = cancelled AND fk_variant = pk_variant;
    response.entity_id := id;
    response.status := 'updated';
    RETURN response;
END $$;
