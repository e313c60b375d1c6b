//! Promises about groups of rows, as a recipe says them.

use std::sync::Arc;

use crate::decimal::Decimal;
use crate::error::Result;
use crate::promise::{
    Adversary, BetaLikeness, DeltaDisclosure, DeltaPresence, Distance, Diversity,
    GroupPromise, KAnonymity, KMap, LDiversity, Likeness, TCloseness,
};
use crate::recipe::method;
use crate::recipe::promise::{PromiseKind, PromiseReader};
use crate::recipe::section::Item;

/// All of them, in the order in which they are listed to users.
pub(super) const READERS: [(&str, PromiseReader); 7] = [
    ("k-anonymity", k_anonymity),
    ("k-map", k_map),
    ("l-diversity", l_diversity),
    ("t-closeness", t_closeness),
    ("beta-likeness", beta_likeness),
    ("delta-disclosure", delta_disclosure),
    ("delta-presence", delta_presence),
];

/// A promise that needs no other words.
fn plain(promise: impl GroupPromise + 'static) -> PromiseKind {
    PromiseKind::Groups(Arc::new(promise))
}

/// The number of a promise in its short form, as in `k-anonymity = 5`.
pub(in crate::recipe) fn short<'a>(item: &Item<'a>, name: &str) -> Option<Item<'a>> {
    (!item.is_table()).then(|| Item { name: name.to_owned(), ..item.clone() })
}

fn k_anonymity(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(plain(least(item, KAnonymity::new)?))
}

fn k_map(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(plain(least(item, KMap::new)?))
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
    Ok(plain(LDiversity::new(diversity).map_err(|error| l.at(error))?))
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
    Ok(plain(promise.map_err(|error| t.at(error))?))
}

fn beta_likeness(item: &Item<'_>) -> Result<PromiseKind> {
    let (beta, form) = match short(item, "beta") {
        Some(beta) => (beta, None),
        None => {
            let mut section = item.section()?;
            let form = section.take("form");
            let beta = section.need("beta")?;
            section.done()?;
            (beta, form)
        }
    };
    let form = match form {
        Some(form) => {
            form.choice("form", &Likeness::ALL.map(|choice| (choice.name(), choice)))?
        }
        None => Likeness::Enhanced,
    };
    Ok(plain(BetaLikeness::new(above_zero(&beta)?, form)?))
}

fn delta_disclosure(item: &Item<'_>) -> Result<PromiseKind> {
    let delta = match short(item, "delta") {
        Some(delta) => delta,
        None => {
            let mut section = item.section()?;
            let delta = section.need("delta")?;
            section.done()?;
            delta
        }
    };
    Ok(plain(DeltaDisclosure::new(above_zero(&delta)?)?))
}

/// A number above 0 that says how much somebody may learn.
fn above_zero(item: &Item<'_>) -> Result<Decimal> {
    if item.float()? <= 0.0 {
        let error = item.out_of_range("above 0");
        return Err(error.with_hint("0 would ask that groups tell nothing at all"));
    }
    item.decimal()
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
