//! The context of a request: its parts, its extensions, and the data that is made for it once.

mod batch_methods;
mod loaders;
mod request;
mod request_data;
mod unadmitted;
