//! Placing and cancelling orders. The work is done by functions of the database: `db/schema/004_functions.sql`.

use svc::prelude::*;

use crate::types::Order;

/// An order to place.
#[svc_input]
#[derive(Debug)]
pub struct PlaceOrderInput {
    /// The customer.
    pub customer_id: Uuid,
    /// The goods.
    pub lines: Vec<OrderLineInput>,
}

/// A number of one variant.
#[svc_input]
#[derive(Debug)]
pub struct OrderLineInput {
    /// The variant.
    pub variant_id: Uuid,
    /// The number of pieces.
    pub quantity: i32,
}

/// The result of an order.
#[svc_result]
#[derive(Debug)]
pub enum PlaceOrderResult {
    /// It is placed.
    Success {
        /// The order.
        order: Order,
    },
    /// Nothing is ordered.
    Error,
}

/// The result of calling an order off.
#[svc_result]
#[derive(Debug)]
pub enum CancelOrderResult {
    /// It is called off.
    Success {
        /// The order.
        order: Order,
    },
    /// It is as it was.
    Error,
}

/// Places an order and takes its stock.
#[svc::mutation(function = "fn_place_order")]
pub async fn place_order(input: PlaceOrderInput) -> PlaceOrderResult;

/// Calls an order off and puts its stock back.
#[svc::mutation(function = "fn_cancel_order")]
pub async fn cancel_order(id: Uuid) -> CancelOrderResult;

/// Adds the mutations of this module to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.mutations(mutations![place_order, cancel_order])
}
