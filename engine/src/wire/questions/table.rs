//! The code that the table of questions makes.

/// The path of a question about a rank.
macro_rules! of_rank {
    ($rest:literal) => {
        concat!("/api/profiles/{slug}/ranks/{rank}", $rest)
    };
}

/// Makes the enums of questions and answers, with all that goes through each question. A row is the
/// name of the variants, the module and the type of the question.
macro_rules! questions {
    (
        store { $($store:ident: $store_module:ident::$of_store:ident,)+ }
        rank { $($rank:ident: $rank_module:ident::$of_rank:ident,)+ }
    ) => {
        $(pub use self::$store_module::$of_store;)+
        $(pub use self::$rank_module::$of_rank;)+

        /// A question to a store.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Question {
            $(#[doc = concat!("See [`", stringify!($of_store), "`].")] $store($of_store),)+
            /// A question about a rank of a profile.
            OfRank(RankId, RankQuestion),
        }

        /// A question about a rank.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum RankQuestion {
            $(#[doc = concat!("See [`", stringify!($of_rank), "`].")] $rank($of_rank),)+
        }

        /// An answer. Serialised as the message inside, without a tag.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Answer {
            $(#[doc = concat!("Answer to [`", stringify!($of_store), "`].")]
            $store(<$of_store as Ask>::Answer),)+
            $(#[doc = concat!("Answer to [`", stringify!($of_rank), "`].")]
            $rank(<$of_rank as Ask>::Answer),)+
        }

        /// All questions.
        pub static QUESTIONS: &[QuestionRow] = &[
            $(QuestionRow {
                path: <$of_store as Ask>::PATH,
                doc: <$of_store as Parameters>::DOC,
                manner: <$of_store as Ask>::MANNER,
                refusals: &[<$of_store as Ask>::MANNER.refusals],
                parameters: <$of_store as Parameters>::describe,
                #[cfg(feature = "schema")]
                schema: schema_of::<$of_store>,
                #[cfg(any(test, feature = "fixture"))]
                example: || <$of_store as Parameters>::example().into(),
            },)+
            $(QuestionRow {
                path: <$of_rank as Ask>::PATH,
                doc: <$of_rank as Parameters>::DOC,
                manner: <$of_rank as Ask>::MANNER,
                refusals: &[RankId::REFUSALS, <$of_rank as Ask>::MANNER.refusals],
                parameters: |all| {
                    <RankId as Parameters>::describe(all);
                    <$of_rank as Parameters>::describe(all);
                },
                #[cfg(feature = "schema")]
                schema: schema_of::<$of_rank>,
                #[cfg(any(test, feature = "fixture"))]
                example: || Question::OfRank(RankId::example(), <$of_rank as Parameters>::example().into()),
            },)+
        ];

        impl Question {
            /// Path and query string, relative to the server.
            #[must_use]
            pub fn path(&self) -> String {
                match self {
                    $(Self::$store(question) => address(question, None),)+
                    Self::OfRank(id, question) => match question {
                        $(RankQuestion::$rank(question) => address(question, Some(id)),)+
                    },
                }
            }

            /// Parses a path and its query string. Unknown parameters are ignored.
            ///
            /// # Errors
            /// `NotFound` if no question has this path, `BadQuestion` if a parameter is missing or
            /// wrong.
            pub fn parse(path: &str, query: &str) -> Result<Self, Refusal> {
                let parts = parts_of(path).ok_or_else(|| no_path(path))?;
                $(if let Some(given) = GivenAddress::of(<$of_store as Ask>::PATH, &parts, query) {
                    return <$of_store as Parameters>::read(&given).map(Self::$store);
                })+
                $(if let Some(given) = GivenAddress::of(<$of_rank as Ask>::PATH, &parts, query) {
                    let id = RankId::read(&given)?;
                    let question = <$of_rank as Parameters>::read(&given).map(RankQuestion::$rank)?;
                    return Ok(Self::OfRank(id, question));
                })+
                Err(no_path(path))
            }

            /// How the question is answered.
            #[must_use]
            pub fn manner(&self) -> &'static Manner {
                match self {
                    $(Self::$store(_) => &<$of_store as Ask>::MANNER,)+
                    Self::OfRank(_, question) => match question {
                        $(RankQuestion::$rank(_) => &<$of_rank as Ask>::MANNER,)+
                    },
                }
            }

            /// All questions.
            #[cfg(test)]
            fn any() -> proptest::strategy::BoxedStrategy<Self> {
                use proptest::prelude::*;
                let to_store = proptest::strategy::Union::new([
                    $(<$of_store as Parameters>::any().prop_map(Self::$store).boxed(),)+
                ]);
                let of_rank = proptest::strategy::Union::new([
                    $(<$of_rank as Parameters>::any().prop_map(RankQuestion::$rank).boxed(),)+
                ]);
                let of_rank = (RankId::any(), of_rank).prop_map(|(id, question)| Self::OfRank(id, question));
                prop_oneof![1 => to_store, 9 => of_rank].boxed()
            }
        }

        $(impl From<$of_store> for Question {
            fn from(question: $of_store) -> Self {
                Self::$store(question)
            }
        })+

        $(impl From<$of_rank> for RankQuestion {
            fn from(question: $of_rank) -> Self {
                Self::$rank(question)
            }
        })+

        impl Answer {
            /// Whether the answer is that there is no message.
            #[must_use]
            pub fn is_nothing(&self) -> bool {
                match self {
                    $(Self::$store(answer) => answer.message().is_none(),)+
                    $(Self::$rank(answer) => answer.message().is_none(),)+
                }
            }
        }

        impl Serialize for Answer {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$store(answer) => serialized(answer, serializer),)+
                    $(Self::$rank(answer) => serialized(answer, serializer),)+
                }
            }
        }

        /// Answers a question. `work` runs the heavy parts, and can be cancelled.
        ///
        /// # Errors
        /// `Cancelled` if the work was cancelled, or another refusal if the question, the store or
        /// the segment is at fault.
        pub fn answer(
            store: &impl ProfileStore,
            question: &Question,
            work: Work<'_>,
        ) -> Result<Answer, Refusal> {
            match question {
                $(Question::$store(question) => {
                    AskStore::answer(question, store, work).map(Answer::$store)
                })+
                Question::OfRank(id, question) => answer_of_rank(&store.rank(id)?, question, work),
            }
        }

        /// Answers a question about a rank.
        pub fn answer_of_rank(
            rank: &impl Rank,
            question: &RankQuestion,
            work: Work<'_>,
        ) -> Result<Answer, Refusal> {
            work.cancel.check().map_err(|error| rank.refusal(error))?;
            match question {
                $(RankQuestion::$rank(question) => {
                    AskRank::answer(question, rank, work).map(Answer::$rank)
                })+
            }
        }
    };
}
