//! The types that svc makes of a relation through a type.

use svc::prelude::*;

use super::columns;

#[tokio::test]
async fn the_schema_has_types_of_the_relation() {
    let options = AppOptions::new()
        .auto_camel_case(true)
        .queries(queries![columns::products]);
    let sdl = options.sdl().unwrap();
    let edge = sdl
        .split("type ProductCategoriesEdge {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap();
    for field in [
        "node: Category!",
        "cursor: String!",
        "position: Int!",
        "way: Way!",
        "tags: [String!]!",
        "shelf: Shelf",
    ] {
        assert!(edge.contains(field), "{field}: {edge}");
    }
    // Neither relations nor methods of the row that joins.
    assert!(
        !edge.contains("product") && !edge.contains("twice"),
        "{edge}"
    );
    let order = sdl
        .split("input ProductCategoriesEdgeOrderBy {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap();
    assert!(
        order.contains("position: OrderDirection") && !order.contains("product:"),
        "{order}"
    );
    assert!(
        sdl.contains("type ProductCategoriesConnection {")
            && !sdl.contains("type CategoryConnection {")
    );
}

mod clash {
    use super::*;

    #[svc_type(sql_source = "c_product")]
    pub(super) struct Product {
        id: i32,
        #[relation(through = Placing, here = "product_id", there = "category_id", connection)]
        categories: Many<Category>,
    }

    #[svc_type(sql_source = "c_placing")]
    struct Placing {
        node: i32,
    }

    #[svc_type(sql_source = "c_category")]
    struct Category {
        id: Uuid,
    }

    #[svc::query]
    pub(super) async fn products() -> Vec<Product>;
}

#[test]
fn a_field_named_like_a_field_of_every_edge_is_an_error() {
    let error = AppOptions::new()
        .queries(queries![clash::products])
        .sdl()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`node` of")
            && error.contains("clash::Placing")
            && error.contains("rename it"),
        "{error}"
    );
}

mod order_clash {
    use super::*;

    #[svc_type(sql_source = "c_product")]
    pub(super) struct Product {
        id: i32,
        #[relation(through = Placing, here = "product_id", there = "category_id")]
        categories: Many<Category>,
    }

    #[svc_type(sql_source = "c_placing")]
    struct Placing {
        position: i32,
    }

    #[svc_type(sql_source = "c_category")]
    struct Category {
        id: Uuid,
        edge: i32,
    }

    #[svc::query]
    pub(super) async fn products() -> Vec<Product>;
}

#[test]
fn a_field_named_like_the_order_by_edges_is_an_error() {
    let error = AppOptions::new()
        .queries(queries![order_clash::products])
        .sdl()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("order_clash::Category` has a field `edge`"),
        "{error}"
    );
    assert!(
        error.contains("order_clash::Product::categories` leads to such rows"),
        "{error}"
    );
}
