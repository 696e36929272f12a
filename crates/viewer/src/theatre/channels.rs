//! Channels that somebody plots: names ⇒ numbers, frame by frame.

use super::View;
use super::program::Act;
use rattleback_dynamics::Readout;
use rattleback_dynamics::world::LedgerSettings;
use rattleback_lab::channel::Channel;
use std::collections::BTreeMap;

/// Channels found by name in the world that is on.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// None for names that mean nothing there; that is told once.
    known: BTreeMap<String, Option<Channel>>,
    energy_at_start: f64,
}

impl Channels {
    /// Forgets everything: another world is on, with this energy at its start.
    pub fn begin(&mut self, energy_at_start: f64) {
        *self = Self { known: BTreeMap::new(), energy_at_start };
    }

    /// (stage, its last readout) ⇒ the view has the numbers of all channels that anybody wants.
    pub fn read(&mut self, view: &mut View, act: &mut Act, readout: &Readout) {
        let names: Vec<String> = view.wishes.values().flat_map(|wish| wish.channels.clone()).collect();
        self.known.retain(|name, _| names.contains(name));
        view.channels.retain(|name, _| names.contains(name));
        for name in names {
            if !self.known.contains_key(&name) {
                let found = Channel::parse(&name, &act.world);
                if let Err(error) = &found {
                    view.tell(error.to_string().lines().next().unwrap_or_default());
                }
                if found.as_ref().is_ok_and(Channel::needs_ledger) && act.world.energy_ledger().is_none() {
                    // Default settings are in range.
                    let _ = act.world.open_energy_ledger(LedgerSettings::default());
                }
                self.known.insert(name.clone(), found.ok());
            }
            if let Some(Some(channel)) = self.known.get(&name) {
                let values = channel.values(&act.world, readout, self.energy_at_start);
                view.channels.insert(name, values);
            }
        }
    }
}
