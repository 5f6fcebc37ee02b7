//! Charts as SVG: panels over one time axis, written by hand because a picture of lines needs no library.
//!
//! ```text
//!   title
//!   subtitle
//!   ┌ panel title (unit) ───────── legend ┐
//!   │ band │ line                         │   bands are parts of the time, behind all panels
//!   └──────┴──────────────────────────────┘
//!   ┌ next panel …                        ┐
//!   └─────────────────────────────────────┘
//!     0    5    10   15                      seconds, once at the bottom
//! ```

use std::fmt::{self, Write};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const HEAD: f64 = 96.0;
const PANEL: f64 = 190.0;
/// From one panel's axis to the next one's top.
const GAP: f64 = 58.0;
const FOOT: f64 = 52.0;

/// Lines across a panel, about so many.
const GRID_LINES: f64 = 5.0;

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its colour, as SVG has it.
    pub colour: &'static str,
    /// Whether it is dashed: for limits and for the upper ends of spreads.
    pub is_dashed: bool,
    /// Time and value.
    pub points: Vec<(f64, f64)>,
}

/// Lines with a common unit.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What is shown.
    pub title: &'static str,
    /// In what it is measured.
    pub unit: &'static str,
    /// Whether the axis begins at zero; otherwise it begins below the lowest value.
    pub is_from_zero: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// A moment, as a line across all panels.
#[derive(Clone, Debug)]
pub struct Mark {
    /// What happens.
    pub name: &'static str,
    /// When.
    pub seconds: f64,
    /// The colour of the line and its name.
    pub colour: &'static str,
}

/// A part of the time.
#[derive(Clone, Debug)]
pub struct Band {
    /// What happens.
    pub name: &'static str,
    /// From when to when.
    pub seconds: (f64, f64),
    /// Its colour; two greys in turn if it has none.
    pub colour: Option<&'static str>,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it is about.
    pub title: String,
    /// Under which conditions.
    pub subtitle: String,
    /// Parts of the time.
    pub bands: Vec<Band>,
    /// Moments.
    pub marks: Vec<Mark>,
    /// The panels, top to bottom.
    pub panels: Vec<Panel>,
}

/// From values to places on the paper.
#[derive(Clone, Copy, Debug)]
struct Frame {
    top: f64,
    seconds_max: f64,
    value_min: f64,
    value_max: f64,
}

impl Frame {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.seconds_max * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + PANEL * (1.0 - (value - self.value_min) / (self.value_max - self.value_min))
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let height = HEAD + self.panels.len() as f64 * (PANEL + GAP) - GAP + FOOT;
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12">"#
        )?;
        writeln!(out, r##"<rect width="100%" height="100%" fill="#ffffff"/>"##)?;
        let title = Text { size: 19, is_bold: true, ..Text::at(LEFT, 34.0) };
        title.write(&self.title, out)?;
        Text { colour: MUTED, size: 13, ..Text::at(LEFT, 56.0) }.write(&self.subtitle, out)?;
        let seconds = self.bands.iter().map(|band| band.seconds.1);
        let points = self.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
        let seconds_max = seconds.chain(points.map(|point| point.0)).fold(1e-9, f64::max);
        for (place, panel) in self.panels.iter().enumerate() {
            let (value_min, value_max) = panel.value_range();
            let top = HEAD + place as f64 * (PANEL + GAP);
            let frame = Frame { top, seconds_max, value_min, value_max };
            self.write_bands(frame, place == 0, out)?;
            panel.write_grid(frame, out)?;
            self.write_marks(frame, place == 0, out)?;
            panel.series.iter().try_for_each(|series| series.write(frame, out))?;
            if place + 1 == self.panels.len() {
                write_time_axis(frame, out)?;
            }
        }
        writeln!(out, "</svg>")
    }
}

impl Picture {
    fn write_bands(&self, frame: Frame, is_first: bool, out: &mut impl Write) -> fmt::Result {
        for (place, band) in self.bands.iter().enumerate() {
            let (left, right) = (frame.x(band.seconds.0), frame.x(band.seconds.1));
            let fill = band.colour.unwrap_or(if place % 2 == 0 { "#f6f7f9" } else { "#e9edf2" });
            let (top, width) = (frame.top, right - left);
            writeln!(
                out,
                r#"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{PANEL}" fill="{fill}"/>"#
            )?;
            if is_first {
                let middle = Text {
                    colour: MUTED,
                    anchor: "middle",
                    size: 11,
                    ..Text::at(left + width / 2.0, top + 14.0)
                };
                middle.write(band.name, out)?;
            }
        }
        Ok(())
    }
}

impl Picture {
    fn write_marks(&self, frame: Frame, is_first: bool, out: &mut impl Write) -> fmt::Result {
        for mark in &self.marks {
            let (x, top, bottom, colour) = (frame.x(mark.seconds), frame.top, frame.top + PANEL, mark.colour);
            writeln!(
                out,
                r#"<line x1="{x:.1}" y1="{top:.1}" x2="{x:.1}" y2="{bottom:.1}" stroke="{colour}" stroke-width="1" stroke-dasharray="2 3"/>"#
            )?;
            if is_first {
                let name = Text { colour, anchor: "middle", size: 11, ..Text::at(x, bottom + 13.0) };
                name.write(mark.name, out)?;
            }
        }
        Ok(())
    }
}

impl Panel {
    /// From a line of the grid to a line of the grid, with some room.
    fn value_range(&self) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let highest = values().fold(if self.is_from_zero { 1e-9 } else { f64::MIN }, f64::max);
        let lowest = values().fold(if self.is_from_zero { 0.0 } else { f64::MAX }, f64::min);
        let (lowest, highest) = if lowest < highest { (lowest, highest) } else { (0.0, 1.0) };
        let room = if self.is_from_zero { highest * 0.08 } else { (highest - lowest) * 0.06 };
        let lowest = if self.is_from_zero { lowest } else { lowest - room };
        let step = round_step((highest + room - lowest) / GRID_LINES);
        (step * (lowest / step).floor(), step * ((highest + room) / step).ceil())
    }

    fn write_grid(&self, frame: Frame, out: &mut impl Write) -> fmt::Result {
        let height = frame.value_max - frame.value_min;
        let step = round_step(height / GRID_LINES);
        for line in 0..=(height / step).round() as u32 {
            let value = frame.value_min + f64::from(line) * step;
            let (y, right) = (frame.y(value), WIDTH - RIGHT);
            let colour = if line == 0 { "#8a939d" } else { "#d3d9e0" };
            writeln!(
                out,
                r#"<line x1="{LEFT}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="{colour}" stroke-width="1"/>"#
            )?;
            Text { colour: MUTED, anchor: "end", ..Text::at(LEFT - 8.0, y + 4.0) }
                .write(&number(value), out)?;
        }
        let head = Text { is_bold: true, size: 13, ..Text::at(LEFT, frame.top - 10.0) };
        head.write(&format!("{} ({})", self.title, self.unit), out)?;
        self.write_legend(frame, out)
    }

    /// The legend stands to the right of the title.
    fn write_legend(&self, frame: Frame, out: &mut impl Write) -> fmt::Result {
        // No font is measured here: this is what a line and a text of this size take at most in common ones.
        let width = |series: &Series| 28.0 + series.name.chars().count() as f64 * 6.9 + 18.0;
        let mut left = WIDTH - RIGHT + 18.0 - self.series.iter().map(width).sum::<f64>();
        for series in &self.series {
            let (colour, dashes) = (series.colour, series.dashes());
            let (y, right) = (frame.top - 14.0, left + 22.0);
            writeln!(
                out,
                r#"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="2"{dashes}/>"#
            )?;
            Text::at(left + 28.0, y + 4.0).write(&series.name, out)?;
            left += width(series);
        }
        Ok(())
    }
}

impl Series {
    fn dashes(&self) -> &'static str {
        if self.is_dashed { r#" stroke-dasharray="5 4""# } else { "" }
    }

    fn write(&self, frame: Frame, out: &mut impl Write) -> fmt::Result {
        let (colour, dashes) = (self.colour, self.dashes());
        write!(
            out,
            r#"<polyline fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"{dashes} points=""#
        )?;
        for (seconds, value) in &self.points {
            write!(out, "{:.1},{:.1} ", frame.x(*seconds), frame.y(*value))?;
        }
        writeln!(out, r#""/>"#)
    }
}

fn write_time_axis(frame: Frame, out: &mut impl Write) -> fmt::Result {
    let step = round_step(frame.seconds_max / 8.0);
    let bottom = frame.top + PANEL;
    for mark in 0..=(frame.seconds_max / step).floor() as u32 {
        let seconds = f64::from(mark) * step;
        let (x, end) = (frame.x(seconds), bottom + 5.0);
        writeln!(out, r##"<line x1="{x:.1}" y1="{bottom}" x2="{x:.1}" y2="{end}" stroke="#8a939d"/>"##)?;
        let below = Text { colour: MUTED, anchor: "middle", ..Text::at(x, bottom + 19.0) };
        below.write(&number(seconds), out)?;
    }
    let middle =
        Text { colour: MUTED, anchor: "middle", ..Text::at((LEFT + WIDTH - RIGHT) / 2.0, bottom + 38.0) };
    middle.write("time (s)", out)
}

const MUTED: &str = "#5b6570";

/// How and where a text stands.
#[derive(Clone, Copy, Debug)]
struct Text {
    x: f64,
    y: f64,
    size: u32,
    colour: &'static str,
    anchor: &'static str,
    is_bold: bool,
}

impl Text {
    fn at(x: f64, y: f64) -> Text {
        Text { x, y, size: 12, colour: "#1d2329", anchor: "start", is_bold: false }
    }

    fn write(&self, text: &str, out: &mut impl Write) -> fmt::Result {
        let Text { x, y, size, colour, anchor, is_bold } = self;
        let weight = if *is_bold { r#" font-weight="bold""# } else { "" };
        write!(
            out,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>"#
        )?;
        for character in text.chars() {
            match character {
                '<' => out.write_str("&lt;")?,
                '&' => out.write_str("&amp;")?,
                other => out.write_char(other)?,
            }
        }
        writeln!(out, "</text>")
    }
}

/// The next of 1, 2, 5, 10, 20, … that is not smaller.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = factors.into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    fits.unwrap_or(10.0) * power
}

/// A number without a tail of zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(values: &[f64], is_from_zero: bool) -> String {
        let points = values.iter().enumerate().map(|(at, value)| (at as f64, *value)).collect();
        let series = Series { name: "a < b".to_owned(), colour: "#000000", is_dashed: true, points };
        let panel = Panel { title: "bytes", unit: "B", is_from_zero, series: vec![series] };
        let band = Band { name: "rest", seconds: (0.0, 2.0), colour: None };
        Picture {
            title: "R & D".to_owned(),
            subtitle: String::new(),
            bands: vec![band],
            marks: vec![Mark { name: "push", seconds: 1.0, colour: "#ff0000" }],
            panels: vec![panel.clone(), panel],
        }
        .to_string()
    }

    #[test]
    fn steps_are_round_and_not_smaller_than_asked() {
        assert_eq!([0.3, 1.0, 1.1, 2.1, 7.0, 130.0].map(round_step), [0.5, 1.0, 2.0, 5.0, 10.0, 200.0]);
        assert_eq!([0.0, 2.5, 1_000.0].map(number), ["0", "2.5", "1000"]);
    }

    #[test]
    fn every_point_lies_within_the_paper() {
        for svg in [picture(&[0.0, 17.0, 3.5], true), picture(&[-3.0, 17.0, 3.5], false)] {
            check_within(&svg);
        }
    }

    fn check_within(svg: &str) {
        let lines: Vec<_> = svg.lines().filter(|line| line.starts_with("<polyline")).collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            let points = line.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            for point in points.split_whitespace() {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (HEAD..1_000.0).contains(&y), "{point}");
            }
        }
    }

    #[test]
    fn text_is_escaped_and_nothing_at_all_can_be_drawn() {
        let svg = picture(&[], true);
        assert!(svg.contains("R &amp; D") && svg.contains("a &lt; b") && !svg.contains("NaN"));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
