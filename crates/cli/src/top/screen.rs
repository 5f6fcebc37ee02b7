//! The live dashboard.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Sparkline, Table};

use super::page::Page;
use super::{PEER_COLUMNS, fetch, peers, summary};

/// How often the server is asked.
const INTERVAL: Duration = Duration::from_secs(1);
/// Samples that a graph has.
const SAMPLES: usize = 240;

/// What is shown.
struct Board {
    address: String,
    page: Page,
    problem: Option<String>,
    sent: VecDeque<u64>,
    ping: VecDeque<u64>,
}

/// Shows it until somebody presses q.
pub fn run(address: &str, page: Page) -> Result<(), String> {
    let mut board = Board {
        address: address.to_owned(),
        page,
        problem: None,
        sent: VecDeque::new(),
        ping: VecDeque::new(),
    };
    board.remember();
    let mut terminal =
        ratatui::try_init().map_err(|error| format!("the terminal cannot be used: {error}; try --once"))?;
    let outcome = (|| -> std::io::Result<()> {
        let mut next = Instant::now() + INTERVAL;
        loop {
            terminal.draw(|picture| draw(picture, &board))?;
            if event::poll(next.saturating_duration_since(Instant::now()))? && is_quit(&event::read()?) {
                return Ok(());
            }
            if Instant::now() >= next {
                next = Instant::now() + INTERVAL;
                board.refresh();
            }
        }
    })();
    ratatui::restore();
    outcome.map_err(|error| error.to_string())
}

fn is_quit(event: &Event) -> bool {
    let Event::Key(key) = event else { return false };
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    }
}

impl Board {
    fn refresh(&mut self) {
        match fetch(&self.address) {
            Ok(page) => {
                (self.page, self.problem) = (page, None);
                self.remember();
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn remember(&mut self) {
        let value = |name: &str| self.page.value(name).unwrap_or(0.0);
        let sent = value("netloom_sent_bytes_per_second") as u64;
        let ping = (1e5 * value("netloom_ping_seconds")) as u64;
        for (samples, sample) in [(&mut self.sent, sent), (&mut self.ping, ping)] {
            if samples.len() == SAMPLES {
                samples.pop_front();
            }
            samples.push_back(sample);
        }
    }
}

fn draw(picture: &mut Frame<'_>, board: &Board) {
    let figures = summary(&board.page);
    let rows = [Constraint::Length(figures.len() as u16 + 2), Constraint::Min(4), Constraint::Length(1)];
    let [top, middle, bottom] = Layout::vertical(rows).areas(picture.area());
    let [left, right] = Layout::horizontal([Constraint::Length(44), Constraint::Min(10)]).areas(top);
    let lines: Vec<Line<'_>> =
        figures.into_iter().map(|(name, value)| Line::raw(format!("{name:<22}{value}"))).collect();
    picture.render_widget(Paragraph::new(lines).block(Block::bordered().title(&*board.address)), left);
    let halves = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas::<2>(right);
    let graphs = [("sent bytes a second", &board.sent, Color::Cyan), ("ping", &board.ping, Color::Yellow)];
    for (area, (title, samples, colour)) in halves.into_iter().zip(graphs) {
        let shown = usize::from(area.width.saturating_sub(2));
        let graph = Sparkline::default()
            .data(samples.iter().skip(samples.len().saturating_sub(shown)).copied())
            .style(Style::new().fg(colour))
            .block(Block::bordered().title(title));
        picture.render_widget(graph, area);
    }
    let widths = [8, 24, 6, 13, 9, 10, 8, 10, 12].map(Constraint::Length);
    let table = Table::new(peers(&board.page).into_iter().map(Row::new), widths)
        .header(Row::new(PEER_COLUMNS).bold())
        .block(Block::bordered().title("peers, the slowest first"));
    picture.render_widget(table, middle);
    let hint = board.problem.clone().unwrap_or_else(|| String::from("q leaves"));
    picture.render_widget(Line::raw(hint).dim(), bottom);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[test]
    fn the_board_shows_figures_and_peers_at_any_size() {
        let page = Page::read(
            "netloom_info{game=\"cubes\",version=\"0\"} 1\nnetloom_connected_peers 2\n\
             netloom_peer_ping_seconds{player=\"7\",name=\"Ada\",room=\"1\"} 0.0125\n",
        );
        let mut board = Board {
            address: String::from("127.0.0.1:7779"),
            page,
            problem: None,
            sent: VecDeque::new(),
            ping: VecDeque::new(),
        };
        board.remember();
        for (width, height) in [(120, 40), (30, 8), (1, 1)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|picture| draw(picture, &board)).unwrap();
            let shown = terminal.backend().to_string();
            if width == 120 {
                for text in ["cubes", "Ada", "12.5", "127.0.0.1:7779"] {
                    assert!(shown.contains(text), "{text} is missing in\n{shown}");
                }
            }
        }
    }
}
