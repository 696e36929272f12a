//! Values of the channels that clients plot, frame by frame.

use super::View;
use super::loaded_scene::LoadedScene;
use rattleback_dynamics::Readout;
use rattleback_dynamics::world::LedgerSettings;
use rattleback_lab::channel::Channel;
use std::collections::BTreeMap;

/// Channels of the loaded world, by name.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// None for unknown names, which are reported once.
    known: BTreeMap<String, Option<Channel>>,
    energy_at_start: f64,
}

impl Channels {
    /// Starts anew for another world with this energy at its start, J.
    pub fn begin(&mut self, energy_at_start: f64) {
        *self = Self { known: BTreeMap::new(), energy_at_start };
    }

    /// Puts the values of all plotted channels into the view.
    pub fn read(&mut self, view: &mut View, loaded: &mut LoadedScene, readout: &Readout) {
        let names: Vec<String> =
            view.subscriptions.values().flat_map(|subscription| subscription.channels.clone()).collect();
        self.known.retain(|name, _| names.contains(name));
        view.channels.retain(|name, _| names.contains(name));
        for name in names {
            if !self.known.contains_key(&name) {
                let found = Channel::parse(&name, &loaded.world);
                if let Err(error) = &found {
                    view.notify(error.to_string().lines().next().unwrap_or_default());
                }
                if found.as_ref().is_ok_and(Channel::needs_ledger) && loaded.world.energy_ledger().is_none() {
                    // Default settings are in range.
                    let _ = loaded.world.open_energy_ledger(LedgerSettings::default());
                }
                self.known.insert(name.clone(), found.ok());
            }
            if let Some(Some(channel)) = self.known.get(&name) {
                let values = channel.values(&loaded.world, readout, self.energy_at_start);
                view.channels.insert(name, values);
            }
        }
    }
}
