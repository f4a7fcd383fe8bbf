//! Components: the part of a project that a run may change.

use crate::candidate::Content;
use crate::parameter::Parameter;
use crate::source::Source;
use crate::syntax::Parsed;

/// The longest program of a candidate, in bytes, unless its component says otherwise.
pub(crate) const LONGEST: usize = 256 << 10;

/// A part of a project that has versions: blocks of files, declared parameters, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    pub id: String,
    pub files: Vec<Source>,
    pub parameters: Vec<Parameter>,
    /// The most bytes that the files of a candidate have together.
    pub longest: usize,
}

impl Component {
    /// A component of the blocks of these files.
    pub fn of_files(id: &str, files: Vec<Source>) -> Self {
        Self {
            id: id.to_owned(),
            files,
            parameters: Vec::new(),
            longest: LONGEST,
        }
    }

    /// A component of declared parameters.
    pub fn of_parameters(id: &str, parameters: Vec<Parameter>) -> Self {
        Self {
            parameters,
            ..Self::of_files(id, Vec::new())
        }
    }

    /// The version in force.
    pub fn content(&self) -> Content {
        let blocks = self.files.iter().flat_map(|it| it.blocks.iter().cloned());
        Content {
            blocks: blocks.collect(),
            values: self.parameters.iter().map(|it| it.value.clone()).collect(),
        }
    }

    /// The files of a candidate: paths and whole texts.
    pub fn texts(&self, content: &Content) -> Vec<(String, String)> {
        let mut rest = content.blocks.as_slice();
        let mut texts = Vec::with_capacity(self.files.len());
        for source in &self.files {
            let (own, others) = rest.split_at(source.blocks.len().min(rest.len()));
            rest = others;
            texts.push((source.path.clone(), source.assemble(own).0));
        }
        texts
    }

    /// The same, parsed. The ranges of blocks are those of the file; [`Parsed::place`] counts blocks within it.
    pub(crate) fn parse(&self, content: &Content) -> Vec<Parsed> {
        let mut rest = content.blocks.as_slice();
        let mut files = Vec::with_capacity(self.files.len());
        for source in &self.files {
            let (own, others) = rest.split_at(source.blocks.len().min(rest.len()));
            rest = others;
            let (text, blocks) = source.assemble(own);
            files.push(Parsed::new(source.language, text, blocks));
        }
        files
    }

    /// The index of the first block of a file among all blocks.
    pub(crate) fn first_block(&self, file: usize) -> usize {
        self.files.iter().take(file).map(|it| it.blocks.len()).sum()
    }
}
