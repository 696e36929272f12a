//! Channels sampled during a run, as a chart.

use rattleback_dynamics::{Readout, World};
use rattleback_lab::channel::Channel;
use rattleback_lab::plot::{Chart, Panel, Series};

/// Most samples of a run; more would not be visible.
const MAX_SAMPLES: u64 = 200_000;

/// Channels and their samples.
#[derive(Debug)]
pub struct Watch {
    channels: Vec<Channel>,
    energy_at_start: f64,
    /// Steps between two samples.
    pub stride: u64,
    times: Vec<f64>,
    /// One list for each component of each channel, in order.
    values: Vec<Vec<f64>>,
}

impl Watch {
    /// (channels, energy at the start in J, fewest steps between two samples, steps of the run) ⇒ watch.
    pub fn new(channels: Vec<Channel>, energy_at_start: f64, every: u64, steps: u64) -> Self {
        let values = vec![Vec::new(); channels.iter().map(|channel| channel.components.len()).sum()];
        let stride = every.max(steps.div_ceil(MAX_SAMPLES));
        Self { channels, energy_at_start, stride, times: Vec::new(), values }
    }

    /// Takes a sample.
    pub fn sample(&mut self, world: &World, readout: &Readout) {
        self.times.push(world.time());
        let seen =
            self.channels.iter().flat_map(|channel| channel.values(world, readout, self.energy_at_start));
        for (list, value) in self.values.iter_mut().zip(seen) {
            list.push(value);
        }
    }

    /// The samples as a chart: a panel for each channel; scalar channels of one quantity share a panel.
    pub fn chart(&self, title: &str) -> Chart {
        let mut panels: Vec<Panel> = Vec::new();
        let mut groups: Vec<Vec<&Channel>> = Vec::new();
        let mut lists = self.values.iter();
        for channel in &self.channels {
            let single = channel.components.len() == 1;
            let shares = single
                && groups.last().is_some_and(|group| group.iter().all(|other| together(channel, other)));
            if !shares {
                panels.push(Panel::default());
                groups.push(Vec::new());
            }
            let (Some(panel), Some(group)) = (panels.last_mut(), groups.last_mut()) else { continue };
            group.push(channel);
            for component in &channel.components {
                let Some(list) = lists.next() else { continue };
                let name = if single { channel.label.clone() } else { (*component).to_owned() };
                let points = self.times.iter().copied().zip(list.iter().copied()).collect();
                panel.series.push(Series { name, points });
            }
        }
        for (panel, group) in panels.iter_mut().zip(&groups) {
            panel.y_label = axis_label(group);
            // The name on the axis is not repeated in the legend.
            if group.len() > 1 && same_component(group) {
                for series in &mut panel.series {
                    if let Some((body, _)) = series.name.rsplit_once('.') {
                        series.name = body.to_owned();
                    }
                }
            }
            // A single curve is named by its axis.
            if let [only] = &mut panel.series[..] {
                only.name.clear();
            }
        }
        Chart { title: title.into(), x_label: "time (s)".into(), panels }
    }
}

/// Whether two single-number channels can share an axis. The drift of the energy is on a scale of its own.
fn together(a: &Channel, b: &Channel) -> bool {
    let drift = |channel: &Channel| channel.components == ["drift"];
    b.components.len() == 1 && a.quantity() == b.quantity() && !drift(a) && !drift(b)
}

fn same_component(group: &[&Channel]) -> bool {
    group.windows(2).all(|pair| pair[0].components == pair[1].components)
}

fn axis_label(group: &[&Channel]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let name = match group {
        [only] => only.label.clone(),
        _ if same_component(group) => first.components.join(", "),
        _ => first.quantity().replace('_', " "),
    };
    if first.unit.is_empty() { name } else { format!("{name} ({})", first.unit) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::Body;
    use rattleback_geometry::Shape;

    #[test]
    fn curves_of_one_quantity_share_a_panel() {
        let mut world = World::default();
        for name in ["a", "b"] {
            world.add_body(Body::dynamic().named(name).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
        }
        let names = ["a.z", "b.z", "a.x", "a.vx", "energy", "energy.drift", "energy.total"];
        let channels = names.iter().map(|name| Channel::parse(name, &world).unwrap()).collect();
        let mut watch = Watch::new(channels, 0.0, 1, 10);
        watch.sample(&world, &world.readout());
        let chart = watch.chart("test");
        let labels: Vec<_> = chart.panels.iter().map(|panel| panel.y_label.as_str()).collect();
        assert_eq!(
            labels,
            ["position (m)", "a.vx (m/s)", "energy (J)", "energy.drift (J)", "energy.total (J)"]
        );
        let curves: Vec<_> = chart.panels.iter().map(|panel| panel.series.len()).collect();
        assert_eq!(curves, [3, 1, 3, 1, 1]);
    }

    #[test]
    fn long_runs_are_thinned() {
        assert_eq!(Watch::new(Vec::new(), 0.0, 3, 1000).stride, 3);
        assert_eq!(Watch::new(Vec::new(), 0.0, 1, 10 * MAX_SAMPLES).stride, 10);
    }
}
