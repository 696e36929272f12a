//! Views of worlds: in a browser, as pictures, as glTF animations.
//!
//! [`RenderScene`] is the geometry of a world to draw: surfaces, their places on bodies, colours. It is drawn by [`picture`], a small
//! software rasteriser, by the page that [`server`] serves to a browser, and written by [`animation`] as a file for other programs.
//!
//! The server binds the loopback address and shows one [`session`] to a few clients. Each client is sent the newest state when its
//! socket is ready: a client that reads slowly gets fewer frames and delays neither the simulation nor other clients.

pub mod animation;
mod connection;
mod gallery;
mod guard;
pub mod measure;
mod message;
mod page;
pub mod picture;
pub mod render_scene;
pub mod server;
pub mod session;

pub use connection::ConnectionLimits;
pub use render_scene::RenderScene;
pub use server::{Server, ServerError, ServerOptions};
