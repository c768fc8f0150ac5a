//! Files of the page: named by their content where a document links to them, so that browsers keep
//! them for ever.

use crate::link::{PageLink, with_links_replaced};
use anyhow::Context as _;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

/// The program of the workers of a page without a server. No document links to it.
const WORKER: &str = "nprof-worker";
/// Hidden: the server takes all other files of the page's folder into its binary.
const STAGE: &str = ".stage";

/// Writes the page that `index` describes into `dist`, with programs from the folder `programs`.
/// The last page stays if this one cannot be put together.
pub fn write(index: &Path, programs: &Path, dist: &Path) -> anyhow::Result<()> {
    let stage = dist.join(STAGE);
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(&stage)?;
    let sources = index.parent().context("it is a folder")?.to_owned();
    let bundle = PageBundle { sources, programs: programs.to_owned(), stage };
    let page = with_links_replaced(&fs::read_to_string(index)?, |link| bundle.element(link))?;
    fs::write(bundle.stage.join("index.html"), page)?;
    bundle.bind(WORKER, Bindgen::no_modules)?;
    replace(dist, &bundle.stage)
}

/// Makes the files in `stage` those of `dist`. Hidden files stay.
fn replace(dist: &Path, stage: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(dist)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    for entry in fs::read_dir(stage)? {
        let entry = entry?;
        fs::rename(entry.path(), dist.join(entry.file_name()))?;
    }
    Ok(fs::remove_dir(stage)?)
}

/// A page that is being put together.
struct PageBundle {
    /// Folder of the files that the document links to.
    sources: PathBuf,
    programs: PathBuf,
    stage: PathBuf,
}

impl PageBundle {
    /// The element that a browser reads in place of `link`. Addresses are absolute: those of the
    /// page itself (`/profile/<id>`) lie deeper than its files.
    fn element(&self, link: &PageLink) -> anyhow::Result<String> {
        match *link {
            PageLink::Icon { path } => {
                Ok(format!("<link rel=\"icon\" href=\"/{}\">", self.renamed(self.copy(path)?)?))
            }
            PageLink::Style { path } => {
                Ok(format!("<link rel=\"stylesheet\" href=\"/{}\">", self.renamed(self.copy(path)?)?))
            }
            PageLink::Program { name } => self.program(name),
            PageLink::Copy { path } => self.copy(path).map(|_| String::new()),
            PageLink::InlineScript { path } => {
                let script = fs::read_to_string(self.sources.join(path)).with_context(|| path.to_owned())?;
                Ok(format!("<script>{script}</script>"))
            }
        }
    }

    /// Binds the page's program, and starts it. The browser loads script and program at a time.
    fn program(&self, name: &str) -> anyhow::Result<String> {
        self.bind(name, Bindgen::web)?;
        let script = self.renamed(&format!("{name}.js"))?;
        let program = self.renamed(&format!("{name}_bg.wasm"))?;
        Ok(format!(
            "<link rel=\"modulepreload\" href=\"/{script}\" crossorigin>\n  \
             <link rel=\"preload\" href=\"/{program}\" crossorigin as=\"fetch\" type=\"application/wasm\">\n  \
             <script type=\"module\">\n    \
             import start from \"/{script}\";\n    \
             await start({{ module_or_path: \"/{program}\" }});\n  \
             </script>"
        ))
    }

    /// Writes `<name>.js` and `<name>_bg.wasm`.
    fn bind(
        &self,
        name: &str,
        form: fn(&mut Bindgen, bool) -> anyhow::Result<&mut Bindgen>,
    ) -> anyhow::Result<()> {
        let path = self.programs.join(name).with_extension("wasm");
        let mut bindgen = Bindgen::new();
        // Both scripts are told where their program is.
        bindgen.input_path(&path).typescript(false).omit_default_module_path(true);
        form(&mut bindgen, true)?;
        bindgen.generate(&self.stage).with_context(|| format!("{} could not be bound", path.display()))
    }

    /// Copies a source, and returns its name without folders.
    fn copy<'p>(&self, path: &'p str) -> anyhow::Result<&'p str> {
        let name = Path::new(path).file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("{path} is no file"))?;
        fs::copy(self.sources.join(path), self.stage.join(name)).with_context(|| path.to_owned())?;
        Ok(name)
    }

    /// Adds a hash of the content to a file's name: `icon.svg` becomes `icon-0123456789abcdef.svg`,
    /// `page_bg.wasm` becomes `page-0123456789abcdef_bg.wasm`. Returns the name.
    fn renamed(&self, name: &str) -> anyhow::Result<String> {
        let from = self.stage.join(name);
        // The hasher's keys are fixed: the same bytes give the same name in every run.
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(&from)?);
        let end = name.find("_bg.").or_else(|| name.find('.')).unwrap_or(name.len());
        let named = format!("{}-{:016x}{}", &name[..end], hasher.finish(), &name[end..]);
        fs::rename(from, self.stage.join(&named))?;
        Ok(named)
    }
}
