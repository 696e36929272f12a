//! Integration tests of the viewer. One binary: each further one would be linked with everything again.

mod animation;
mod server;
mod slow_clients;
