use svc::prelude::*;

/// A thing that the shop sells.
#[svc_type(sql_source = "v_product")]
#[derive(Debug)]
pub struct Product {
    /// Never reused.
    pub id: Uuid,
    /// The identifier in URLs.
    pub identifier: String,
    /// The name as shown.
    pub name: String,
    /// A few words.
    pub description: String,
    /// Whether it can be ordered.
    pub active: bool,
    /// Its sizes and colours.
    #[relation]
    pub variants: Many<Variant>,
}

/// A form in which a product is sold, with its price and its stock.
#[svc_type(sql_source = "v_variant")]
#[derive(Debug)]
pub struct Variant {
    /// Never reused.
    pub id: Uuid,
    /// The stock keeping unit.
    pub sku: String,
    /// The name as shown.
    pub name: String,
    /// The price of one.
    pub price: Decimal,
    /// The number of pieces that are left.
    pub stock: i32,
    /// The product.
    #[relation]
    pub product: One<Product>,
}

#[svc_type]
impl Variant {
    /// Whether one can be ordered now.
    fn available(&self) -> bool {
        self.stock > 0
    }
}
