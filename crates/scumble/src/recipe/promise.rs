//! Promises of a recipe, with their numbers checked.

use crate::decimal::Decimal;
use crate::error::Result;
use crate::method::pdf::Shift;
use crate::promise::{
    Adversary, Breach, Breaches, DeltaPresence, ExpectedAnonymity, FineGrain,
    RRobustness, Sensitivity,
};
use crate::recipe::blur::expected_anonymity;
use crate::recipe::section::{Item, Section, suggestion};
use crate::recipe::{RobustnessSpec, Spot, method};

/// A promise as typed.
#[derive(Debug, Clone)]
pub struct PromiseSpec {
    /// Which one, with its numbers.
    pub kind: PromiseKind,
    /// Where its name stands.
    pub spot: Spot,
}

/// A promise and its numbers.
#[derive(Debug, Clone)]
pub enum PromiseKind {
    /// Every group has at least `k` rows.
    KAnonymity {
        /// At least 2.
        k: u64,
    },
    /// Every group has enough different sensitive values.
    LDiversity {
        /// Above 1; whole unless the kind is entropy.
        l: Decimal,
        /// What "different" means.
        kind: DiversityKind,
    },
    /// Sensitive values are spread in every group nearly as in the whole table.
    TCloseness {
        /// Above 0, at most 1.
        t: Decimal,
        /// How far apart two values are.
        distance: Distance,
    },
    /// Everybody's presence stays uncertain.
    DeltaPresence {
        /// The least share of a group of the population in the table.
        min: Decimal,
        /// The largest share.
        max: Decimal,
        /// Who reads the weights of pdf cells.
        adversary: Adversary,
        /// How the weights of the paper are found, if said here.
        shift: Option<Shift>,
    },
    /// No belief in a value moves from one probability to another.
    Breach(Breach),
    /// The same with a bound for each value.
    FineGrain {
        /// Where the bounds come from.
        bounds: BoundsSpec,
        /// Which way a belief must not move.
        breaches: Breaches,
        /// How much it counts that each value is kept, if said.
        weights: Option<WeightsSpec>,
    },
    /// No belief in a value passes 1/r, whatever is known of how values depend.
    RRobustness(RobustnessSpec),
    /// Everybody is hidden among so many people, on average over the noise.
    ExpectedAnonymity(ExpectedAnonymity),
}

impl PromiseKind {
    /// Its name in recipes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::KAnonymity { .. } => "k-anonymity",
            Self::LDiversity { .. } => "l-diversity",
            Self::TCloseness { .. } => "t-closeness",
            Self::DeltaPresence { .. } => "delta-presence",
            Self::Breach(_) => Breach::NAME,
            Self::FineGrain { .. } => FineGrain::NAME,
            Self::RRobustness(_) => RRobustness::NAME,
            Self::ExpectedAnonymity(_) => ExpectedAnonymity::NAME,
        }
    }

    /// Its name as a message says it.
    pub(super) fn described(&self) -> String {
        let both = match self {
            Self::Breach(breach) => breach.breaches() == Breaches::Both,
            Self::FineGrain { breaches, .. } => *breaches == Breaches::Both,
            _ => false,
        };
        match both {
            true => format!("`{}` with `kind = \"both\"`", self.name()),
            false => format!("`{}`", self.name()),
        }
    }

    /// Whether it is about how values are randomized, not about groups.
    pub fn randomizes(&self) -> bool {
        matches!(self, Self::Breach(_) | Self::FineGrain { .. })
    }
}

/// How much it counts that each value is kept, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeightsSpec {
    /// The same for all, so that the matrix does not depend on the table.
    Even,
    /// As common as it is.
    Frequency,
    /// A file with value and weight; its path is relative to the recipe's folder.
    Csv(String),
}

/// Where the bounds of a fine-grain promise come from, as typed.
#[derive(Debug, Clone)]
pub enum BoundsSpec {
    /// So many times the share of each value.
    Factor(Decimal),
    /// A file with value, prior and posterior; its path is relative to the recipe's folder.
    Csv(String),
}

/// What it means for sensitive values of a group to be diverse.
#[derive(Debug, Clone, Copy)]
pub enum DiversityKind {
    /// At least `l` different values.
    Distinct,
    /// The entropy is at least the logarithm of `l`.
    Entropy,
    /// The commonest value is below `c` times the sum of the `l`-th commonest and rarer.
    Recursive {
        /// Above 0.
        c: Decimal,
    },
}

/// How far apart two sensitive values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// All values are equally far apart.
    Equal,
    /// By their places in the order of the domain.
    Ordered,
    /// By the level of their lowest common node.
    Hierarchical,
}

/// The names of all promises, in the order in which they are listed to users.
pub const PROMISES: [&str; 8] = [
    "k-anonymity",
    "l-diversity",
    "t-closeness",
    "delta-presence",
    "breach",
    "fine-grain",
    "r-robustness",
    "expected-anonymity",
];

const DISTANCES: [(&str, Distance); 3] = [
    ("equal", Distance::Equal),
    ("ordered", Distance::Ordered),
    ("hierarchical", Distance::Hierarchical),
];

impl PromiseSpec {
    /// Reads all promises, in the order of the file.
    pub(super) fn all(section: &Section<'_>) -> Result<Vec<Self>> {
        let mut promises = Vec::new();
        for (span, item) in section.items() {
            let kind = match &*item.name {
                "k-anonymity" => k_anonymity(&item)?,
                "l-diversity" => l_diversity(&item)?,
                "t-closeness" => t_closeness(&item)?,
                "delta-presence" => delta_presence(&item)?,
                "breach" => breach(&item)?,
                "fine-grain" => fine_grain(&item)?,
                "r-robustness" => {
                    PromiseKind::RRobustness(RobustnessSpec::read(&item)?)
                }
                "expected-anonymity" => {
                    PromiseKind::ExpectedAnonymity(expected_anonymity(&item)?)
                }
                name => {
                    let error =
                        item.source.error(&span, format!("unknown promise `{name}`"));
                    return Err(error.with_hint(suggestion(name, &PROMISES)));
                }
            };
            promises.push(Self { kind, spot: item.source.spot(&span) });
        }
        if promises.is_empty() {
            let error = section.error("`[promise]` promises nothing");
            return Err(error.with_hint("write a promise, as in `k-anonymity = 5`"));
        }
        Ok(promises)
    }
}

/// The number of a promise in its short form, as in `k-anonymity = 5`.
pub(super) fn short<'a>(item: &Item<'a>, name: &str) -> Option<Item<'a>> {
    (!item.is_table()).then(|| Item { name: name.to_owned(), ..item.clone() })
}

fn k_anonymity(item: &Item<'_>) -> Result<PromiseKind> {
    let k = match short(item, "k") {
        Some(k) => k,
        None => {
            let mut section = item.section()?;
            let k = section.need("k")?;
            section.done()?;
            k
        }
    };
    match u64::try_from(k.integer()?) {
        Ok(number) if number >= 2 => Ok(PromiseKind::KAnonymity { k: number }),
        _ => {
            let error = k.out_of_range("at least 2");
            Err(error.with_hint("k = 1 asks for no protection"))
        }
    }
}

fn l_diversity(item: &Item<'_>) -> Result<PromiseKind> {
    if let Some(l) = short(item, "l") {
        let kind = DiversityKind::Distinct;
        return Ok(PromiseKind::LDiversity { l: whole_l(&l)?, kind });
    }
    let mut section = item.section()?;
    let kind = section.take("kind");
    let c = section.take("c");
    let l = section.need("l")?;
    section.done()?;
    let kind = match &kind {
        Some(kind) => diversity_kind(kind, c.as_ref())?,
        None => DiversityKind::Distinct,
    };
    if let (Some(c), DiversityKind::Distinct | DiversityKind::Entropy) = (&c, kind) {
        return Err(c.error("`c` goes with `kind = \"recursive\"` only"));
    }
    let l = match kind {
        DiversityKind::Entropy => entropy_l(&l)?,
        _ => whole_l(&l)?,
    };
    Ok(PromiseKind::LDiversity { l, kind })
}

/// `distinct`, `entropy`, `recursive` with a `c` beside it, or `recursive(c)`.
fn diversity_kind(kind: &Item<'_>, c: Option<&Item<'_>>) -> Result<DiversityKind> {
    let word = kind.string()?;
    let inside = word
        .strip_prefix("recursive(")
        .and_then(|rest| rest.strip_suffix(')'))
        .map(str::trim);
    if let Some(number) = inside {
        if let Some(c) = c {
            return Err(c.error(format!("`c` is given twice: `kind` is `{word}`")));
        }
        let wanted = "positive, as in `recursive(2.5)`";
        let parsed = crate::table::parse_number(number).filter(|number| *number > 0.0);
        let bad = || kind.at(crate::error::Error::out_of_range("c", number, wanted));
        let c = Decimal::from_f64("c", parsed.ok_or_else(bad)?);
        return Ok(DiversityKind::Recursive { c: c.map_err(|error| kind.at(error))? });
    }
    match (
        kind.choice("kind", &[("distinct", 0), ("entropy", 1), ("recursive", 2)])?,
        c,
    ) {
        (0, _) => Ok(DiversityKind::Distinct),
        (1, _) => Ok(DiversityKind::Entropy),
        (_, Some(c)) => {
            if c.float()? <= 0.0 {
                return Err(c.out_of_range("positive"));
            }
            Ok(DiversityKind::Recursive { c: c.decimal()? })
        }
        (_, None) => {
            let error = kind.error("`kind` is `recursive`, but `c` is missing");
            Err(error.with_hint("write `c = 2.5`, or `kind = \"recursive(2.5)\"`"))
        }
    }
}

fn whole_l(item: &Item<'_>) -> Result<Decimal> {
    if item.integer()? < 2 {
        let error = item.out_of_range("at least 2");
        return Err(error.with_hint("l = 1 asks for no protection"));
    }
    item.decimal()
}

fn entropy_l(item: &Item<'_>) -> Result<Decimal> {
    if item.float()? <= 1.0 {
        let error = item.out_of_range("above 1");
        return Err(error.with_hint("l = 1 asks for no protection"));
    }
    item.decimal()
}

fn t_closeness(item: &Item<'_>) -> Result<PromiseKind> {
    let (t, distance) = match short(item, "t") {
        Some(t) => (t, None),
        None => {
            let mut section = item.section()?;
            let distance = section.take("distance");
            let t = section.need("t")?;
            section.done()?;
            (t, distance)
        }
    };
    let number = t.float()?;
    if number <= 0.0 || number > 1.0 {
        return Err(t.out_of_range("above 0 and at most 1"));
    }
    let distance = match distance {
        Some(distance) => distance.choice("distance", &DISTANCES)?,
        None => Distance::Equal,
    };
    Ok(PromiseKind::TCloseness { t: t.decimal()?, distance })
}

const ADVERSARIES: [(&str, Adversary); 2] =
    [("counting", Adversary::Counting), ("paper", Adversary::Paper)];

fn delta_presence(item: &Item<'_>) -> Result<PromiseKind> {
    if !item.is_table() {
        return Err(item.mistyped("a table, as in `{ min = 0.0, max = 0.5 }`"));
    }
    let mut section = item.section()?;
    let min = section.take("min");
    section.take("max");
    let adversary = section.take("adversary");
    let shift = section.take("shift");
    let max = section.need("max")?;
    section.done()?;
    for share in min.iter().chain([&max]) {
        if !(0.0..=1.0).contains(&share.float()?) {
            let error = share.out_of_range("from 0 to 1");
            return Err(error.with_hint("it is a share of the people in a group"));
        }
    }
    let least = min.as_ref().map_or(Ok(Decimal::ZERO), Item::decimal)?;
    let most = max.decimal()?;
    DeltaPresence::new(least, most)
        .map_err(|error| min.as_ref().unwrap_or(&max).at(error))?;
    let adversary = match adversary {
        Some(adversary) => adversary.choice("adversary", &ADVERSARIES)?,
        None => Adversary::Counting,
    };
    if let (Some(shift), Adversary::Counting) = (&shift, adversary) {
        return Err(shift.error("`shift` goes with `adversary = \"paper\"` only"));
    }
    let shift =
        shift.map(|item| item.choice("shift", &method::shifts(None))).transpose()?;
    Ok(PromiseKind::DeltaPresence { min: least, max: most, adversary, shift })
}

const BREACHES: [(&str, Breaches); 2] =
    [("upward", Breaches::Upward), ("both", Breaches::Both)];

fn breaches(kind: Option<&Item<'_>>) -> Result<Breaches> {
    kind.map_or(Ok(Breaches::Upward), |item| item.choice("kind", &BREACHES))
}

fn breach(item: &Item<'_>) -> Result<PromiseKind> {
    if !item.is_table() {
        return Err(item.mistyped("a table, as in `{ prior = 0.05, posterior = 0.2 }`"));
    }
    let mut section = item.section()?;
    section.take("posterior");
    let kind = section.take("kind");
    let prior = section.need("prior")?;
    let posterior = section.need("posterior")?;
    section.done()?;
    for share in [&prior, &posterior] {
        let number = share.float()?;
        if number <= 0.0 || number >= 1.0 {
            let error = share.out_of_range("above 0 and below 1");
            return Err(error.with_hint("it is a probability: 5 % is 0.05"));
        }
    }
    let breach =
        Breach::new(prior.decimal()?, posterior.decimal()?, breaches(kind.as_ref())?);
    Ok(PromiseKind::Breach(breach.map_err(|error| posterior.at(error))?))
}

fn fine_grain(item: &Item<'_>) -> Result<PromiseKind> {
    if !item.is_table() {
        return Err(item.mistyped(
            "a table, as in `{ factor = 3 }` or `{ csv = \"bounds.csv\" }`",
        ));
    }
    let mut section = item.section()?;
    let factor = section.take("factor");
    let csv = section.take("csv");
    let weights = section.take("weights");
    let kind = section.take("kind");
    section.done()?;
    let breaches = breaches(kind.as_ref())?;
    let bounds = match (factor, csv) {
        (Some(factor), None) => {
            let number = factor.float()?;
            if number <= 1.0 {
                return Err(factor.out_of_range("above 1").with_hint(
                    "it says how many times as sure somebody may become as they were before",
                ));
            }
            let number = factor.decimal()?;
            FineGrain::new(Sensitivity::Factor(number), breaches)
                .map_err(|error| factor.at(error))?;
            BoundsSpec::Factor(number)
        }
        (None, Some(csv)) => BoundsSpec::Csv(csv.string()?.to_owned()),
        (Some(_), Some(csv)) => {
            return Err(csv.error("`factor` and `csv` both say where bounds come from"));
        }
        (None, None) => {
            let error = section.error("`fine-grain` has no bounds");
            return Err(error.with_hint(
                "write `factor = 3`, or `csv = \"bounds.csv\"` with value, prior, posterior",
            ));
        }
    };
    let weights = weights.as_ref().map(Item::string).transpose()?;
    let weights = weights.map(|word| match word {
        "even" => WeightsSpec::Even,
        "frequency" => WeightsSpec::Frequency,
        path => WeightsSpec::Csv(path.to_owned()),
    });
    Ok(PromiseKind::FineGrain { bounds, breaches, weights })
}
