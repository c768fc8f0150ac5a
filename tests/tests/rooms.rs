//! Checks that each format and each maker has a complete folder of its own, that one module
//! changes files, that tables are padded by hand, and that promises name tests that exist.

use std::collections::BTreeSet;

use nprof_capture::importer::TABLE;
use nprof_engine::makers::kineto::ARGUMENTS;
use nprof_engine::makers::neuron::schema::{ACTIVE_TIME, TELLING};
use nprof_engine::makers::neuron::{Engine, MATRIX_PRODUCTS, SEMAPHORE_WAIT};
use nprof_engine::makers::{aiu, job, neuron};
use nprof_tests::source::{ProjectFile, at, project_root, read_all};

#[test]
fn formats_and_makers_have_their_rooms() {
    let sources = read_all(&project_root()).unwrap();
    let rows: Vec<&str> = TABLE.iter().map(|importer| importer.name).collect();
    let mut problems = formats_are_whole(&rows, &sources);
    problems.extend(sources.iter().flat_map(words_of_makers_have_one_room));
    problems.extend(sources.iter().flat_map(columns_are_named_in_one_room));
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// A trace format is a row of the table, a folder, a fuzz target and a doc page, all with the same
/// name.
fn formats_are_whole(rows: &[&str], sources: &[ProjectFile]) -> Vec<String> {
    let find = |path: &str| sources.iter().find(|source| source.path == path);
    let mut problems = Vec::new();
    for row in rows {
        let parts = [
            (format!("capture/src/formats/{row}/mod.rs"), "its reader"),
            (format!("fuzz/src/targets/{row}.rs"), "its fuzz target"),
            (format!("docs/formats/{row}.md"), "its page"),
        ];
        let missing = parts.iter().filter(|(path, _)| find(path).is_none());
        problems.extend(
            missing.map(|(path, what)| format!("{path}: the format `{row}` of the table lacks {what}")),
        );
    }
    for source in sources {
        let page = source.path.strip_prefix("docs/formats/").and_then(|name| name.strip_suffix(".md"));
        let folder =
            source.path.strip_prefix("capture/src/formats/").and_then(|name| name.strip_suffix("/mod.rs"));
        // A folder that serves other formats has no entry for the table.
        let folder = folder.filter(|_| source.code.contains("pub fn import("));
        let names = [page, folder].into_iter().flatten().filter(|name| !rows.contains(name));
        let problem = |name| format!("`{name}` is no row of the table in capture/src/importer.rs");
        problems.extend(names.map(|name| at(source, 1, &problem(name))));
    }
    problems
}

#[test]
fn promises_name_tests_that_exist() {
    let sources = read_all(&project_root()).unwrap();
    let page = sources.iter().find(|source| source.path == "docs/security.md").unwrap();
    let table = page.text.split("## How it is tested").nth(1).unwrap_or_default();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    let problems: Vec<String> = rows.iter().flat_map(|row| missing_tests(row, &sources)).collect();
    assert!(rows.len() > 30 && problems.is_empty(), "{} rows\n{}", rows.len(), problems.join("\n"));
}

/// Files with tests that a row of the table names and the sources do not have, and such tests in
/// the file or folder before them.
fn missing_tests(row: &str, sources: &[ProjectFile]) -> Vec<String> {
    let mut place: Vec<&ProjectFile> = Vec::new();
    let mut problems = Vec::new();
    for word in row.split('`').skip(1).step_by(2) {
        let is_name = word.contains('_')
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
        if is_name {
            let definition = format!("fn {word}(");
            if !place.iter().any(|source| source.text.contains(&definition)) {
                problems.push(format!("docs/security.md: no test `{word}` in the file before it"));
            }
            continue;
        }
        if ![".rs", ".mjs", "/"].iter().any(|end| word.ends_with(end)) {
            continue;
        }
        let paths = ["", "server/tests/all/", "tests/browser/"].map(|folder| format!("{folder}{word}"));
        place =
            sources.iter().filter(|source| paths.iter().any(|path| source.path.starts_with(path))).collect();
        let has_test = |source: &&ProjectFile| {
            ["#[test]", "#[tokio::test", "proptest!", "fn run(bytes: &[u8])", "test("]
                .iter()
                .any(|mark| source.text.contains(mark))
        };
        if !place.iter().any(has_test) {
            problems.push(format!("docs/security.md: no test in `{word}`"));
        }
    }
    problems
}

#[test]
fn a_test_that_is_gone_is_missed() {
    let sources = [ProjectFile::new("server/tests/all/a.rs", "#[test]\nfn it_holds() {}")];
    assert_eq!(missing_tests("| x | `a.rs` (`it_holds`) |", &sources), [""; 0]);
    assert_eq!(missing_tests("| x | `a.rs` (`it_held`), `b.rs` |", &sources).len(), 2);
}

/// Names that a maker gave are written only in its folder, and all other code refers to them
/// there. A rename then changes one line.
fn words_of_makers_have_one_room(source: &ProjectFile) -> Vec<String> {
    let is_product = ["engine/src/", "capture/src/", "server/src/", "frontend/src/"];
    if !is_product.iter().any(|folder| source.path.starts_with(folder)) || is_room_of_makers(&source.path) {
        return Vec::new();
    }
    // A single word also occurs elsewhere, and the active time is a metric as well.
    let is_telling = |name: &&str| name.contains('_') && *name != ACTIVE_TIME.name;
    let tables = TELLING.into_iter().filter(is_telling);
    let engines = Engine::ALL.into_iter().flat_map(|engine| [engine.prefix(), engine.heading()]);
    // A single word can be an argument of anybody.
    let arguments = ARGUMENTS.into_iter().filter(|name| name.contains(' '));
    let words = tables.chain(engines).chain(arguments).chain([MATRIX_PRODUCTS, SEMAPHORE_WAIT]);
    let mut problems = Vec::new();
    for word in words {
        let quoted = format!("\"{word}\"");
        // Lines of comments and tests are blank in `product`.
        let lines = (1..).zip(source.text.lines().zip(source.product.lines()));
        let found = lines.filter(|(_, (text, product))| !product.trim().is_empty() && text.contains(&quoted));
        let problem = format!("{quoted} is a maker's: write it in engine/src/makers, and name it here");
        problems.extend(found.map(|(line, _)| at(source, line, &problem)));
    }
    problems
}

/// Files with words of their own that some columns have, too: metrics, and columns of any table.
const WITH_WORDS_OF_THEIR_OWN: [&str; 4] = [
    "engine/src/metrics/trace.rs",
    "server/src/cli/diff_condition.rs",
    "server/src/export/neuron_summary.rs",
    "server/src/export/csv/mod.rs",
];

/// Columns of tables are named in the definitions of the tables, and all other code has the structs
/// that these make. A column that is renamed then fails to compile where it is read. Readers of
/// traces meet the same words in traces.
fn columns_are_named_in_one_room(source: &ProjectFile) -> Vec<String> {
    let is_reader_of_tables = ["engine/src/", "server/src/", "frontend/src/"];
    if !is_reader_of_tables.iter().any(|folder| source.path.starts_with(folder))
        || is_room_of_makers(&source.path)
        || source.path.contains("tests")
        || WITH_WORDS_OF_THEIR_OWN.contains(&source.path.as_str())
    {
        return Vec::new();
    }
    let tables = job::schema::TABLES.into_iter().chain(aiu::schema::TABLES).chain(neuron::schema::TABLES);
    // A single word also occurs elsewhere.
    let names: BTreeSet<&str> = tables
        .flat_map(|table| table.fields.iter().map(|field| field.name))
        .filter(|name| name.contains('_'))
        .collect();
    let lines = (1..).zip(source.text.lines().zip(source.product.lines()));
    let product = lines.filter(|(_, (_, product))| !product.trim().is_empty());
    let words = product
        .flat_map(|(line, (text, _))| text.split('"').skip(1).step_by(2).map(move |word| (line, word)));
    words
        .filter(|(_, word)| names.contains(word))
        .map(|(line, word)| {
            at(source, line, &format!("\"{word}\" is a column: read it by the struct of its table's rows"))
        })
        .collect()
}

/// The waits of all makers are known below their folders.
fn is_room_of_makers(path: &str) -> bool {
    path.starts_with("engine/src/makers/") || path == "engine/src/model/wait.rs"
}

/// Calls that change files, which tests refuse one by one (`server/tests/all/faults`).
const CHANGES: [&str; 8] = [
    "fs::write(",
    "fs::rename(",
    "fs::create_dir",
    "fs::remove_",
    "fs::hard_link(",
    "File::create",
    "tempfile::",
    "sync_all(",
];

#[test]
fn files_are_changed_in_one_room_and_padded_by_hand() {
    let sources = read_all(&project_root()).unwrap();
    let problems: Vec<String> = sources
        .iter()
        .flat_map(|source| [changes_have_one_room(source), widths_are_constant(source)].concat())
        .collect();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// The store and the engine change files in `engine/src/native/disk` alone.
fn changes_have_one_room(source: &ProjectFile) -> Vec<String> {
    let has_room =
        ["engine/src/native/", "server/src/store/"].iter().any(|room| source.path.starts_with(room));
    if !has_room || source.path.starts_with("engine/src/native/disk/") {
        return Vec::new();
    }
    let lines = (1..).zip(source.product.lines());
    // `DiskFile` is not `File`.
    let is_word = |line: &str, start: usize| !line[..start].ends_with(|sign: char| sign.is_alphanumeric());
    let has = |line: &str, call| line.match_indices(call).any(|(start, _)| is_word(line, start));
    let found = lines.filter(|(_, line)| CHANGES.iter().any(|call| has(line, *call)));
    let problem = "change files through `native::disk`: tests refuse its calls one by one";
    found.map(|(line, _)| at(source, line, problem)).collect()
}

/// A width or a precision from data ends the program if it is larger than 65,535.
fn widths_are_constant(source: &ProjectFile) -> Vec<String> {
    let is_native =
        ["engine/src/", "capture/src/", "server/src/"].iter().any(|of| source.path.starts_with(of));
    if !is_native {
        return Vec::new();
    }
    // Lines of comments and tests are blank in `product`.
    let lines = (1..).zip(source.text.lines().zip(source.product.lines()));
    let found = lines.filter(|(_, (text, product))| {
        !product.trim().is_empty() && (text.contains("$}") || text.contains(".*}"))
    });
    let problem =
        "a width from data ends the program if it is large: pad by hand, as `cli::size::table` does";
    found.map(|(line, _)| at(source, line, problem)).collect()
}

#[track_caller]
fn check_whole(without: &str, rows: &[&str], expected: &[&str]) {
    let files = [
        ("capture/src/formats/a/mod.rs", "//! A.\npub fn import() {}"),
        ("capture/src/formats/shared/mod.rs", "//! Serves others."),
        ("fuzz/src/targets/a.rs", ""),
        ("docs/formats/a.md", ""),
    ];
    let left = files.iter().filter(|(path, _)| *path != without);
    let sources: Vec<ProjectFile> = left.map(|(path, text)| ProjectFile::new(path, text)).collect();
    assert_eq!(formats_are_whole(rows, &sources), expected, "without {without}");
}

#[test]
fn a_format_is_a_row_a_folder_a_fuzz_target_and_a_page() {
    let lacks = |path: &str, what: &str| format!("{path}: the format `a` of the table lacks {what}");
    check_whole("", &["a"], &[]);
    for (path, what) in [
        ("capture/src/formats/a/mod.rs", "its reader"),
        ("fuzz/src/targets/a.rs", "its fuzz target"),
        ("docs/formats/a.md", "its page"),
    ] {
        check_whole(path, &["a"], &[&lacks(path, what)]);
    }
    let no_row = "1: `a` is no row of the table in capture/src/importer.rs";
    check_whole(
        "",
        &[],
        &[&format!("capture/src/formats/a/mod.rs:{no_row}"), &format!("docs/formats/a.md:{no_row}")],
    );
}

#[test]
fn a_makers_word_outside_its_room_is_found() {
    let check = |path: &str, text: &str, expected: usize| {
        let problems = words_of_makers_have_one_room(&ProjectFile::new(path, text));
        assert_eq!(problems.len(), expected, "{problems:?}");
    };
    check("server/src/export/a.rs", "let name = \"cc_ops\";", 1);
    check("capture/src/a.rs", "call(\"tensor_engine\", \"Tensor engine\")", 2);
    check("server/src/a.rs", "let name = \"Process Group Name\";", 1);
    check("engine/src/makers/neuron/a.rs", "let name = \"cc_ops\";", 0);
    check("server/src/a.rs", "// \"cc_ops\" is a table\nlet ops = \"cc\";", 0);
    check("server/src/a.rs", "#[cfg(test)]\nmod tests {\n    const A: &str = \"cc_ops\";\n}", 0);
}

#[test]
fn a_column_that_is_named_outside_its_room_is_found() {
    let check = |path: &str, text: &str, expected: usize| {
        let problems = columns_are_named_in_one_room(&ProjectFile::new(path, text));
        assert_eq!(problems.len(), expected, "{problems:?}");
    };
    check("frontend/src/view/a.rs", "let late = column(\"root_blame\");", 1);
    check("server/src/a.rs", "row.get(\"pt_active\").or(row.get(\"job_delay\"))", 2);
    check("server/src/a.rs", "row.get(\"wait\");\n// \"root_blame\" is a column", 0);
    check("engine/src/makers/job/a.rs", "column(\"root_blame\")", 0);
    check("capture/src/formats/a.rs", "args.get(\"pt_active\")", 0);
}

#[test]
fn a_change_of_files_outside_its_room_is_found() {
    let check = |path: &str, text: &str, expected: usize| {
        let problems = changes_have_one_room(&ProjectFile::new(path, text));
        assert_eq!(problems.len(), expected, "{problems:?}");
    };
    check("server/src/store/a.rs", "fn f() { std::fs::rename(a, b) }", 1);
    check("engine/src/native/a.rs", "let file = File::create_new(path)?;", 1);
    check("engine/src/native/disk/mod.rs", "fs::rename(from, to)", 0);
    check("server/src/store/a.rs", "disk::rename(from, to); DiskFile::create_new(path)", 0);
    check("server/src/store/a.rs", "#[cfg(test)]\nmod tests {\n    fn f() { fs::write(a, b) }\n}", 0);
}

#[test]
fn a_width_from_data_is_found() {
    let check = |text: &str, expected: usize| {
        let problems = widths_are_constant(&ProjectFile::new("server/src/a.rs", text));
        assert_eq!(problems.len(), expected, "{problems:?}");
    };
    check("writeln!(out, \"{name:width$}\")", 1);
    check("format!(\"{:.*}\", digits, number)", 1);
    check("writeln!(out, \"{name:>11}\")", 0);
    check("// \"{name:width$}\" would panic", 0);
}
