//! A page of metrics, read again.

/// The samples of a page.
#[derive(Debug)]
pub struct Page(Vec<Sample>);

/// One of them.
#[derive(Debug, PartialEq)]
pub struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    pub value: f64,
}

impl Sample {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| &**value)
    }
}

impl Page {
    /// Reads a page; lines that make no sense are left out.
    pub fn read(text: &str) -> Page {
        Page(text.lines().filter(|line| !line.starts_with('#')).filter_map(sample).collect())
    }

    /// All samples of a name.
    pub fn samples(&self, name: &str) -> impl Iterator<Item = &Sample> {
        self.0.iter().filter(move |sample| sample.name == name)
    }

    /// The first value of a name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.samples(name).next().map(|sample| sample.value)
    }

    /// A label of the first sample of a name.
    pub fn label(&self, name: &str, label: &str) -> Option<String> {
        self.samples(name).next()?.label(label).map(str::to_owned)
    }
}

fn sample(line: &str) -> Option<Sample> {
    let name_ends = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(name_ends);
    let (labels, value) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    Some(Sample { name: name.to_owned(), labels, value: value.trim().parse().ok()? })
}

/// Labels up to the closing brace, and what follows.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, quoted) = rest.trim_start_matches(',').split_once("=\"")?;
        let (value, after) = unescaped(quoted)?;
        labels.push((name.to_owned(), value));
        rest = after;
    }
}

/// A value up to its closing quote, and what follows.
fn unescaped(quoted: &str) -> Option<(String, &str)> {
    let (mut value, mut letters) = (String::new(), quoted.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_read_with_whatever_their_labels_hold() {
        let page =
            Page::read("# TYPE a gauge\na 1.5\nb{x=\"1\",y=\"a\\\"},\\\\\\n\"} 2\nbroken{x=\"\n\nc{} 3\n");
        assert_eq!(page.value("a"), Some(1.5));
        assert_eq!(page.label("b", "y").as_deref(), Some("a\"},\\\n"));
        assert_eq!((page.value("b"), page.value("c"), page.value("broken")), (Some(2.0), Some(3.0), None));
    }
}
