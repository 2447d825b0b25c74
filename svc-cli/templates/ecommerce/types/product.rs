use svc::prelude::*;

/// A product that the shop sells.
#[svc_type(sql_source = "v_product")]
#[derive(Debug)]
pub struct Product {
    /// The unique identifier.
    pub id: Uuid,
    /// The identifier in URLs.
    pub identifier: String,
    /// The displayed name.
    pub name: String,
    /// A short description.
    pub description: String,
    /// Whether it can be ordered.
    pub active: bool,
    /// The sizes and colors of the product.
    #[relation]
    pub variants: Many<Variant>,
}

/// A variant of a product, such as a size, with its price and stock.
#[svc_type(sql_source = "v_variant")]
#[derive(Debug)]
pub struct Variant {
    /// The unique identifier.
    pub id: Uuid,
    /// The stock keeping unit.
    pub sku: String,
    /// The displayed name.
    pub name: String,
    /// The unit price.
    pub price: Decimal,
    /// The quantity in stock.
    pub stock: i32,
    /// The product.
    #[relation]
    pub product: One<Product>,
}

#[svc_type]
impl Variant {
    /// Whether the variant is in stock.
    fn available(&self) -> bool {
        self.stock > 0
    }
}
