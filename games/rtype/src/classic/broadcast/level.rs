//! The level, its time, and its boss.

use super::{Repeat, Sink};
use crate::classic::codec::{BossSpawned, LevelInfo, ToClient};

/// Says which level it is when it begins and as its time goes on, and that a boss is here for as long as it is.
#[derive(Clone, Debug, Default)]
pub struct LevelBroadcaster {
    level: Repeat<u8>,
    boss: Repeat<BossSpawned>,
}

impl LevelBroadcaster {
    /// Says which level it is, and how long it has been going on.
    pub fn broadcast_level_info(&mut self, frame: u64, info: Option<LevelInfo>, sink: &mut dyn Sink) {
        // Its time changes all the time, which is no reason to say it in every frame.
        if let (Some(_), Some(info)) = (self.level.poll(frame, info.map(|info| info.level)), info) {
            sink.send(ToClient::LevelInfo(info));
        }
    }

    /// Says that a boss is here.
    pub fn broadcast_boss(&mut self, frame: u64, boss: Option<BossSpawned>, sink: &mut dyn Sink) {
        if let Some(boss) = self.boss.poll(frame, boss) {
            sink.send(ToClient::BossSpawned(boss));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Heard;
    use super::*;
    use crate::classic::codec::BossKind;

    #[test]
    fn the_next_level_is_said_at_once_and_time_goes_on_four_times_a_second() {
        let (mut broadcaster, mut heard) = (LevelBroadcaster::default(), Heard::default());
        for frame in 0..60_u32 {
            let level = if frame < 50 { 1 } else { 2 };
            let info = LevelInfo { level, elapsed_ms: frame * 16 };
            broadcaster.broadcast_level_info(frame.into(), Some(info), &mut heard);
        }
        let expected = [(1, 0), (1, 15), (1, 30), (1, 45), (2, 50)];
        let expected = expected.map(|(level, frame)| LevelInfo { level, elapsed_ms: frame * 16 });
        assert_eq!(heard.messages, expected.map(ToClient::LevelInfo));
    }

    #[test]
    fn a_boss_is_announced_for_as_long_as_it_lives() {
        let (mut broadcaster, mut heard) = (LevelBroadcaster::default(), Heard::default());
        let boss = BossSpawned { id: 9, kind: BossKind::Warden };
        for frame in 0..90 {
            let boss = (30..60).contains(&frame).then_some(boss);
            broadcaster.broadcast_boss(frame, boss, &mut heard);
        }
        assert_eq!(heard.messages, [ToClient::BossSpawned(boss); 2]);
    }
}
