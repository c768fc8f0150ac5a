//! The nprof store, and all computations on it.
//!
//! Pure: bytes in, values out. No files, threads, clocks, randomness, colours or pixels, so that
//! the server and the page run the same code. The one exception is [`native`], behind a feature of
//! that name: files and threads for the server.
//!
//! Layers, each importing only those before it (checked by `tests/tests/tidy.rs`):
//! [`base`] < [`exec`] < [`spill`] < [`model`] < [`codec`] < [`block`] < [`index`] < [`segment`] <
//! [`tile`] < [`ingest`] < [`query`] < [`metrics`] < [`makers`] < [`rank`] < [`analysis`] <
//! [`insight`] < [`wire`] < [`native`].
//!
//! A reader sends events to a [`model::Sink`], the builder makes a segment of them, and questions
//! are answered from its bytes:
//!
//! ```
//! use nprof_engine::exec::Work;
//! use nprof_engine::ingest::{BuildOptions, Builder};
//! use nprof_engine::model::{Nesting, Sink, SliceForm, SliceRecord};
//! use nprof_engine::model::{TableKind, TableSpec, TrackSpec};
//! use nprof_engine::rank::RankView;
//! use nprof_engine::segment::Segment;
//! use nprof_engine::spill::MemoryScratch;
//! use nprof_engine::tile::{Level, TileId};
//! use nprof_engine::wire::answer;
//!
//! let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
//! let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default())?;
//! let table = builder.table(TableSpec::new("instructions", TableKind::Slices, ""))?;
//! let track = builder.track(TrackSpec::slices("Tensor", None, table, Nesting::Concurrent, 0))?;
//! let name = builder.name("matmul")?;
//! for start_ps in [0, 2_000_000] {
//!     let (duration_ps, form, fields) = (500_000, SliceForm::Complete, &[][..]);
//!     builder.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields })?;
//! }
//! builder.finish()?;
//!
//! let segment = Segment::open(bytes)?;
//! let rank = RankView::of(&segment);
//! let second = answer::slice(rank, 1, Work::IN_PLACE)?;
//! assert_eq!((second.slice.start_ps, second.slice.duration_ps), (2_000_000, 500_000));
//! let id = TileId { group: 0, level: Level::COARSEST, index: 0 };
//! let tile = answer::tile(rank, id, Work::IN_PLACE)?;
//! assert_eq!((tile.lanes.len(), tile.names), (1, vec!["matmul".to_owned()]));
//! # Ok::<(), nprof_engine::base::Error>(())
//! ```

#![warn(missing_docs)]

pub mod analysis;
pub mod base;
pub mod block;
pub mod codec;
pub mod exec;
pub mod index;
pub mod ingest;
pub mod insight;
pub mod makers;
pub mod metrics;
pub mod model;
#[cfg(feature = "native")]
pub mod native;
pub mod query;
pub mod rank;
pub mod segment;
pub mod spill;
pub mod tile;
pub mod wire;

#[cfg(feature = "fixture")]
pub mod fixture;
