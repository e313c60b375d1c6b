//! Promises of a recipe, with their numbers checked.

use crate::decimal::Decimal;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::pdf::Shift;
use crate::promise::{
    About, Adversary, Breach, Breaches, DeltaPresence, Distance, Diversity,
    ExpectedAnonymity, FineGrain, GroupPromise, KAnonymity, KMap, LDiversity, Promise,
    Sensitivity, TCloseness,
};
use crate::recipe::section::{Item, Section, suggestion};
use crate::recipe::{RobustnessSpec, Spot, blur, method};

/// A promise as typed.
#[derive(Debug, Clone)]
pub struct PromiseSpec {
    /// Which one, with its numbers.
    pub kind: PromiseKind,
    /// The columns it is about, if said, and where each stands.
    pub columns: Option<Vec<(String, Spot)>>,
    /// Where its name stands.
    pub spot: Spot,
}

/// A promise, and what a recipe says beside it for those who keep it.
#[derive(Debug, Clone)]
pub enum PromiseKind {
    /// Every group has at least `k` rows.
    KAnonymity(KAnonymity),
    /// Every group could be that of at least `k` people of the population.
    KMap(KMap),
    /// Every group has enough different sensitive values.
    LDiversity(LDiversity),
    /// Sensitive values are spread in every group nearly as in the whole table.
    TCloseness(TCloseness),
    /// Everybody's presence stays uncertain.
    DeltaPresence {
        /// The range.
        presence: DeltaPresence,
        /// How the weights of the paper are found, if said here.
        shift: Option<Shift>,
    },
    /// No belief in a value moves from one probability to another.
    Breach(Breach),
    /// The same with a bound for each value.
    FineGrain {
        /// The promise; its bounds are not read yet if a file lists them.
        promise: FineGrain,
        /// That file; its path is relative to the recipe's folder.
        csv: Option<String>,
        /// How much it counts that each value is kept, if said.
        weights: Option<WeightsSpec>,
    },
    /// No belief in a value passes 1/r, whatever is known of how values depend.
    RRobustness(RobustnessSpec),
    /// Everybody is hidden among so many people, on average over the noise.
    ExpectedAnonymity(ExpectedAnonymity),
}

impl PromiseKind {
    /// The promise itself.
    pub fn promise(&self) -> &dyn Promise {
        match self {
            Self::KAnonymity(promise) => promise,
            Self::KMap(promise) => promise,
            Self::LDiversity(promise) => promise,
            Self::TCloseness(promise) => promise,
            Self::DeltaPresence { presence, .. } => presence,
            Self::Breach(promise) => promise,
            Self::FineGrain { promise, .. } => promise,
            Self::RRobustness(typed) => &typed.robustness,
            Self::ExpectedAnonymity(promise) => promise,
        }
    }

    /// The promise, bound to the sensitive columns it looks at, if it is about groups.
    pub(super) fn of_groups(&self, data: &Microdata) -> Option<Box<dyn GroupPromise>> {
        Some(match self {
            Self::KAnonymity(promise) => Box::new(*promise),
            Self::KMap(promise) => Box::new(*promise),
            Self::LDiversity(promise) => Box::new(*promise),
            Self::TCloseness(promise) => {
                let columns = data.sensitive.iter();
                let hierarchies = columns.map(|column| column.hierarchy.clone());
                Box::new(promise.clone().along(hierarchies.collect()))
            }
            Self::DeltaPresence { presence, .. } => Box::new(*presence),
            Self::Breach(_)
            | Self::FineGrain { .. }
            | Self::RRobustness(_)
            | Self::ExpectedAnonymity(_) => return None,
        })
    }

    /// Its name as a message says it.
    pub(super) fn described(&self) -> String {
        let name = self.promise().name();
        match self.promise().about() {
            About::Draws(promise) if promise.breaches() == Breaches::Both => {
                format!("`{name}` with `kind = \"both\"`")
            }
            _ => format!("`{name}`"),
        }
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

/// Reads a promise from what is typed after its name.
type Reader = fn(&Item<'_>) -> Result<PromiseKind>;

/// All promises, in the order in which they are listed to users.
const READERS: [(&str, Reader); 9] = [
    ("k-anonymity", k_anonymity),
    ("k-map", k_map),
    ("l-diversity", l_diversity),
    ("t-closeness", t_closeness),
    ("delta-presence", delta_presence),
    ("breach", breach),
    ("fine-grain", fine_grain),
    ("r-robustness", r_robustness),
    ("expected-anonymity", expected_anonymity),
];

/// Their names.
pub const PROMISES: [&str; READERS.len()] = {
    let mut names = [""; READERS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = READERS[place].0;
        place += 1;
    }
    names
};

impl PromiseSpec {
    /// Reads all promises, in the order of the file.
    pub(super) fn all(section: &Section<'_>) -> Result<Vec<Self>> {
        let mut promises = Vec::new();
        for (span, item) in section.items() {
            let Some((_, read)) = READERS.iter().find(|(name, _)| *name == item.name)
            else {
                let message = format!("unknown promise `{}`", item.name);
                let error = item.source.error(&span, message);
                return Err(error.with_hint(suggestion(&item.name, &PROMISES)));
            };
            let item = Item { beside: &["columns"], ..item };
            let columns = match item.is_table() {
                true => item.section()?.take("columns"),
                false => None,
            };
            let columns = columns.map(|columns| columns.columns()).transpose()?;
            let (kind, spot) = (read(&item)?, item.source.spot(&span));
            promises.push(Self { kind, columns, spot });
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
    Ok(PromiseKind::KAnonymity(least(item, KAnonymity::new)?))
}

fn k_map(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(PromiseKind::KMap(least(item, KMap::new)?))
}

/// A promise with one number, `k`.
fn least<P>(item: &Item<'_>, promise: fn(u64) -> Result<P>) -> Result<P> {
    let k = match short(item, "k") {
        Some(k) => k,
        None => {
            let mut section = item.section()?;
            let k = section.need("k")?;
            section.done()?;
            k
        }
    };
    let number = u64::try_from(k.integer()?).unwrap_or(0);
    promise(number).map_err(|_| {
        k.out_of_range("at least 2").with_hint("k = 1 asks for no protection")
    })
}

fn l_diversity(item: &Item<'_>) -> Result<PromiseKind> {
    let (l, diversity) = match short(item, "l") {
        Some(l) => (l.clone(), Diversity::Distinct(whole_l(&l)?)),
        None => {
            let mut section = item.section()?;
            let kind = section.take("kind");
            let c = section.take("c");
            let l = section.need("l")?;
            section.done()?;
            let diversity = diversity(&l, kind.as_ref(), c.as_ref())?;
            (l, diversity)
        }
    };
    let promise = LDiversity::new(diversity).map_err(|error| l.at(error))?;
    Ok(PromiseKind::LDiversity(promise))
}

/// `distinct`, `entropy`, `recursive` with a `c` beside it, or `recursive(c)`.
fn diversity(
    l: &Item<'_>,
    kind: Option<&Item<'_>>,
    c: Option<&Item<'_>>,
) -> Result<Diversity> {
    let word = kind.map_or(Ok("distinct"), Item::string)?;
    let inside = word.strip_prefix("recursive(");
    let inside = inside.and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    if let (Some(kind), Some(number)) = (kind, inside) {
        if let Some(c) = c {
            return Err(c.error(format!("`c` is given twice: `kind` is `{word}`")));
        }
        let wanted = "positive, as in `recursive(2.5)`";
        let parsed = crate::table::parse_number(number).filter(|number| *number > 0.0);
        let bad = || kind.at(crate::error::Error::out_of_range("c", number, wanted));
        let c = Decimal::from_f64("c", parsed.ok_or_else(bad)?);
        let c = c.map_err(|error| kind.at(error))?;
        return Ok(Diversity::Recursive { l: whole_l(l)?, c });
    }
    let kinds = [("distinct", 0), ("entropy", 1), ("recursive", 2)];
    let chosen = kind.map_or(Ok(0), |kind| kind.choice("kind", &kinds))?;
    match (chosen, c, kind) {
        (2, Some(c), _) => {
            if c.float()? <= 0.0 {
                return Err(c.out_of_range("positive"));
            }
            Ok(Diversity::Recursive { l: whole_l(l)?, c: c.decimal()? })
        }
        (2, None, Some(kind)) => {
            let error = kind.error("`kind` is `recursive`, but `c` is missing");
            Err(error.with_hint("write `c = 2.5`, or `kind = \"recursive(2.5)\"`"))
        }
        (_, Some(c), _) => Err(c.error("`c` goes with `kind = \"recursive\"` only")),
        (1, ..) => Ok(Diversity::Entropy(entropy_l(l)?)),
        _ => Ok(Diversity::Distinct(whole_l(l)?)),
    }
}

fn whole_l(item: &Item<'_>) -> Result<u64> {
    match u64::try_from(item.integer()?) {
        Ok(l) if l >= 2 => Ok(l),
        _ => {
            let error = item.out_of_range("at least 2");
            Err(error.with_hint("l = 1 asks for no protection"))
        }
    }
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
        Some(distance) => distance
            .choice("distance", &Distance::ALL.map(|choice| (choice.name(), choice)))?,
        None => Distance::Equal,
    };
    let promise = TCloseness::new(t.decimal()?, distance);
    Ok(PromiseKind::TCloseness(promise.map_err(|error| t.at(error))?))
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
    let presence = DeltaPresence::new(least, most)
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
    Ok(PromiseKind::DeltaPresence { presence: presence.against(adversary), shift })
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
    let (sensitivity, csv) = match (factor, csv) {
        (Some(factor), None) => {
            let number = factor.float()?;
            if number <= 1.0 {
                return Err(factor.out_of_range("above 1").with_hint(
                    "it says how many times as sure somebody may become as they were before",
                ));
            }
            (Sensitivity::Factor(factor.decimal()?), None)
        }
        (None, Some(csv)) => {
            (Sensitivity::Listed(Vec::new()), Some(csv.string()?.to_owned()))
        }
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
    let promise =
        FineGrain::new(sensitivity, breaches).map_err(|error| item.at(error))?;
    Ok(PromiseKind::FineGrain { promise, csv, weights })
}

fn r_robustness(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(PromiseKind::RRobustness(RobustnessSpec::read(item)?))
}

fn expected_anonymity(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(PromiseKind::ExpectedAnonymity(blur::expected_anonymity(item)?))
}
