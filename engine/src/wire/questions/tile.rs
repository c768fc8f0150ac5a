//! A tile.

#[cfg(test)]
use proptest::prelude::*;

use crate::exec::Work;
use crate::tile::{Level, TileId};
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{Address, GivenAddress, Number, Parameter, ParameterDoc, Text, parameters};
use crate::wire::refusal::{Refusal, RefusalKind};
use crate::wire::tile::Tile;

parameters! {
    /// The content of a group of tracks in one span of time. Never changes.
    pub struct TileQuestion {
        /// Content id of the segment, from the entry of the rank.
        pub content: String = Text::in_path("content"),
        /// Place of the tile in the grid.
        pub id: TileId = TileNumbers,
    }
}

impl Ask for TileQuestion {
    type Answer = Tile;

    const PATH: &'static str = of_rank!("/tiles/{content}/{group}/{level}/{index}");
    const MANNER: Manner = Manner { is_lasting: true, ..Manner::of("readTile", Weight::Small) };
}

impl AskRank for TileQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<Tile, Refusal> {
        rank.check_content(&self.content)?;
        answer::tile(rank.view(), self.id, work).map_err(|error| rank.refusal(error))
    }
}

/// Group, level and position of a tile.
struct TileNumbers;

const GROUP: Number<u32> = Number::in_path("group");
const LEVEL: Number<u8> = Number { most: Some(Level::COARSEST.number() as i64), ..Number::in_path("level") };
const INDEX: Number<i64> = Number::in_path("index");

impl Parameter for TileNumbers {
    type Value = TileId;

    fn describe(&self, _: &'static str, all: &mut Vec<ParameterDoc>) {
        GROUP.describe("The tile group.", all);
        LEVEL.describe("The level: cells are 2^(10 + level) ps wide.", all);
        INDEX
            .describe("The position in time, in tiles of 512 cells from time zero; negative before it.", all);
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<TileId, Refusal> {
        let (group, number) = (GROUP.read(given)?, LEVEL.read(given)?);
        let level = Level::new(number).ok_or_else(|| {
            let coarsest = Level::COARSEST.number();
            let what = format!("level {number} does not exist; the coarsest level is {coarsest}");
            Refusal::new(RefusalKind::NotFound, what)
        })?;
        Ok(TileId { group, level, index: INDEX.read(given)? })
    }

    fn write(&self, value: &TileId, address: &mut Address) {
        GROUP.write(&value.group, address);
        LEVEL.write(&value.level.number(), address);
        INDEX.write(&value.index, address);
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> TileId {
        TileId { group: 1, level: Level::COARSEST, index: 0 }
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<TileId> {
        let level = (0..=Level::COARSEST.number()).prop_map(|number| Level::new(number).unwrap());
        (GROUP.any(), level, INDEX.any())
            .prop_map(|(group, level, index)| TileId { group, level, index })
            .boxed()
    }
}
