//! Placing and cancelling orders. The mutations call database functions: `db/schema/004_functions.sql`.

use svc::prelude::*;

use crate::types::Order;

/// An order to place.
#[svc_input]
#[derive(Debug)]
pub struct PlaceOrderInput {
    /// The customer.
    pub customer_id: Uuid,
    /// The ordered variants.
    pub lines: Vec<OrderLineInput>,
}

/// A quantity of one variant.
#[svc_input]
#[derive(Debug)]
pub struct OrderLineInput {
    /// The variant.
    pub variant_id: Uuid,
    /// The quantity.
    pub quantity: i32,
}

/// The result of an order.
#[svc_result]
#[derive(Debug)]
pub enum PlaceOrderResult {
    /// The order was placed.
    Success {
        /// The order.
        order: Order,
    },
    /// The order was not placed.
    Error,
}

/// The result of cancelling an order.
#[svc_result]
#[derive(Debug)]
pub enum CancelOrderResult {
    /// The order was cancelled.
    Success {
        /// The order.
        order: Order,
    },
    /// The order was not changed.
    Error,
}

/// Places an order and reduces the stock.
#[svc::mutation(function = "fn_place_order")]
pub async fn place_order(input: PlaceOrderInput) -> PlaceOrderResult;

/// Cancels an order and restores the stock.
#[svc::mutation(function = "fn_cancel_order")]
pub async fn cancel_order(id: Uuid) -> CancelOrderResult;

/// Adds the mutations of this module to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.mutations(mutations![place_order, cancel_order])
}
