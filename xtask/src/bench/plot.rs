//! A picture of some figures: a bar for each.

use std::fmt::Write;

#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) length: f64,
    /// The figure as it is written beside the bar.
    pub(crate) text: String,
    /// Drawn in a paler colour.
    pub(crate) pale: bool,
}

const ROW: usize = 24;
const NAMES: usize = 130;
const LONGEST: f64 = 400.0;
const WIDTH: usize = 620;

/// An SVG file with a title and bars, the longest as long as there is room.
pub(crate) fn bars(title: &str, bars: &[Bar]) -> String {
    let longest = bars
        .iter()
        .map(|bar| bar.length)
        .fold(f64::MIN_POSITIVE, f64::max);
    let height = ROW * (bars.len() + 1) + 12;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"20\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    );
    for (row, bar) in bars.iter().enumerate() {
        let top = ROW * (row + 1) + 8;
        let text = top + 13;
        let length = (bar.length / longest * LONGEST).max(1.0);
        let colour = if bar.pale { "#9db8d9" } else { "#3a6ea5" };
        let beside = NAMES as f64 + length + 6.0;
        let (name, figure) = (escaped(&bar.name), escaped(&bar.text));
        writeln!(
            svg,
            "<text x=\"8\" y=\"{text}\">{name}</text>\
             <rect x=\"{NAMES}\" y=\"{top}\" width=\"{length:.1}\" height=\"16\" fill=\"{colour}\"/>\
             <text x=\"{beside:.1}\" y=\"{text}\">{figure}</text>"
        )
        .expect("writing to a String");
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
#[path = "plot_tests.rs"]
mod tests;
