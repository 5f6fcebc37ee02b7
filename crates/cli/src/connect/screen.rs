//! The screen: a map to the left, figures, a graph and what was said to the right.

use std::time::{Duration, Instant};

use crossterm::event;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::canvas::{Canvas, Points};
use ratatui::widgets::{Block, Paragraph, Sparkline};

use super::Player;
use super::keys::Keys;
use super::seen::Seen;
use crate::games::{Dot, DotKind, Playable};
use crate::signals::Signals;

const FRAME: Duration = Duration::from_micros(16_667);
/// Frames from one picture to the next.
const FRAMES_PER_PICTURE: u64 = 2;
/// Width of what is beside the map.
const SIDE: u16 = 42;

/// Plays until the player leaves, for so many frames at most.
pub fn run<P: Playable>(
    player: &mut Player<P>,
    frames: Option<u64>,
    signals: &Signals,
) -> Result<(), String> {
    let mut terminal =
        ratatui::try_init().map_err(|error| format!("the terminal cannot be used: {error}; try --plain"))?;
    let outcome = (|| {
        let (mut keys, mut frame, mut next) = (Keys::default(), 0, Instant::now());
        while frames.is_none_or(|frames| frame < frames) && player.ending.is_none() {
            while event::poll(Duration::ZERO).map_err(|error| error.to_string())? {
                keys.handle(&event::read().map_err(|error| error.to_string())?, Instant::now());
            }
            if keys.quits || signals.take() {
                break;
            }
            player.frame(keys.steering(Instant::now()))?;
            if frame % FRAMES_PER_PICTURE == 0 {
                let dots = P::dots(&player.client);
                let drawn = terminal.draw(|picture| draw(picture, &player.seen, &dots, P::extent()));
                drawn.map_err(|error| error.to_string())?;
            }
            frame += 1;
            next = (next + FRAME).max(Instant::now());
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    })();
    ratatui::restore();
    outcome
}

/// Draws everything.
pub fn draw(picture: &mut Frame<'_>, seen: &Seen, dots: &[Dot], extent: f32) {
    let [map, side] =
        Layout::horizontal([Constraint::Min(20), Constraint::Length(SIDE)]).areas(picture.area());
    draw_map(picture, map, seen, dots, extent);
    let rows = [Constraint::Length(13), Constraint::Length(6), Constraint::Length(6), Constraint::Min(3)];
    let [figures, rtt, bytes, lines] = Layout::vertical(rows).areas(side);
    picture.render_widget(figures_of(seen), figures);
    let graphs = [
        (rtt, format!("round trip, {:.1} ms", seen.rtt_ms), &seen.rtts_ms, Color::Yellow, 10.0),
        (
            bytes,
            format!("received, {:.1} kB/s", seen.bytes_in_per_sec / 1e3),
            &seen.bytes_in,
            Color::Cyan,
            1.0,
        ),
    ];
    for (area, title, samples, colour, scale) in graphs {
        let shown = usize::from(area.width.saturating_sub(2));
        let samples: Vec<u64> = samples.iter().map(|sample| (sample * scale) as u64).collect();
        let graph = Sparkline::default().data(samples[samples.len().saturating_sub(shown)..].iter().copied());
        picture
            .render_widget(graph.style(Style::new().fg(colour)).block(Block::bordered().title(title)), area);
    }
    let room = usize::from(lines.height.saturating_sub(2));
    let text: Vec<Line<'_>> = seen
        .lines
        .iter()
        .skip(seen.lines.len().saturating_sub(room))
        .map(|line| Line::raw(&**line))
        .collect();
    picture.render_widget(Paragraph::new(text).block(Block::bordered().title("happened")), lines);
}

fn draw_map(picture: &mut Frame<'_>, area: Rect, seen: &Seen, dots: &[Dot], extent: f32) {
    let places = |kind: DotKind| -> Vec<(f64, f64)> {
        let of_kind = dots.iter().filter(|dot| dot.kind == kind);
        of_kind.map(|dot| (f64::from(dot.at[0]), f64::from(dot.at[1]))).collect()
    };
    let own = seen.own.map(|[x, y]| (f64::from(x), f64::from(y)));
    let (things, players) = (places(DotKind::Thing), places(DotKind::Player));
    let edge = f64::from(extent);
    let title = format!(" {} ", seen.room.as_deref().unwrap_or(seen.state));
    let canvas = Canvas::default()
        .block(Block::bordered().title(title))
        .marker(Marker::Braille)
        .x_bounds([-edge, edge])
        .y_bounds([-edge, edge])
        .paint(|context| {
            context.draw(&Points { coords: &things, color: Color::Blue });
            context.draw(&Points { coords: &players, color: Color::Green });
            if let Some((x, y)) = own {
                context.print(x, y, Line::styled("@", Style::new().fg(Color::Red)));
            }
        });
    picture.render_widget(canvas, area);
}

fn figures_of(seen: &Seen) -> Paragraph<'_> {
    let rows = [
        ("server", seen.server.clone()),
        ("state", seen.state.to_owned()),
        ("round trip", format!("{:.1} ms ± {:.1}", seen.rtt_ms, seen.jitter_ms)),
        ("loss", format!("{:.1} %", seen.loss_pct)),
        ("received", format!("{:.1} kB/s", seen.bytes_in_per_sec / 1e3)),
        ("sent", format!("{:.1} kB/s", seen.bytes_out_per_sec / 1e3)),
        ("objects", format!("{} ({:.0} % here)", seen.objects, seen.progress * 100.0)),
        ("players", (seen.others + 1).to_string()),
        ("view behind", format!("{:.0} ms", seen.delay_ms)),
        ("refused", seen.rejected.to_string()),
    ];
    let lines = rows.map(|(name, value)| Line::raw(format!("{name:<12}{value}")));
    Paragraph::new(lines.to_vec()).block(Block::bordered().title("connection"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[test]
    fn the_screen_shows_figures_map_and_lines_at_any_size() {
        let mut seen = Seen::new("127.0.0.1:7777");
        (seen.room, seen.rtt_ms, seen.own) = (Some(String::from("yard")), 12.5, Some([0.0, 0.0]));
        seen.lines.push_back(String::from("joined yard"));
        seen.rtts_ms.extend([1.0, 2.0]);
        let dots = [Dot { at: [50.0, 50.0], kind: DotKind::Thing }];
        for (width, height) in [(100, 40), (20, 5), (1, 1)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|picture| draw(picture, &seen, &dots, 100.0)).unwrap();
            let shown = terminal.backend().to_string();
            if width == 100 {
                for text in ["yard", "12.5 ms", "@", "joined yard", "127.0.0.1:7777"] {
                    assert!(shown.contains(text), "{text} is missing in\n{shown}");
                }
            }
        }
    }
}
