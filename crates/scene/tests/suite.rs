//! Integration tests of scenes. One binary: each further one would be linked with everything again.

mod chute;
mod coins;
mod playback;
mod rolling_stone;

mod built_in_scenes;
mod convert;
mod errors;
mod impulse_scenes;
mod include;
mod meaning;
mod mesh_file;
mod mesh_file_gltf;
mod multibody;
mod never_panics;
mod old_names;
mod realtime_scenes;
mod recording;
mod robots;
mod same_bits;
mod sandbox_script;
mod schema;
mod script;
mod unsupported;
