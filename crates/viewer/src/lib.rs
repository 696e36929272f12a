//! Looking at worlds: in a browser, as pictures, as glTF animations.
//!
//! [`Look`] is what a world looks like: surfaces, where they sit, colours. Everything else draws a look: [`picture`] with a
//! small rasteriser of its own, [`server`] for a page in the browser, [`animation`] as a file for other programs.
//!
//! The server binds the loopback address, shows one stage to a few clients, and never waits for any of them: each client is
//! sent the newest state when it is ready for it, so that one that reads slowly sees fewer frames and holds up nobody.

pub mod animation;
mod connection;
mod gallery;
mod guard;
pub mod look;
pub mod measure;
mod message;
mod page;
pub mod picture;
pub mod server;
pub mod theatre;

pub use connection::ConnectionLimits;
pub use look::Look;
pub use server::{Server, ServerError, ServerOptions};
