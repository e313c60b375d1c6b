//! What attacks could do, in a table and in sentences.

use std::fmt::Write;

use crate::audit::attacks::by_coins;
use crate::audit::page::values::{
    averaging, corruption_apart, corruption_drawn, dependence, learned,
};
use crate::audit::page::words::{groups, people, rows, share};
use crate::audit::page::{TABLE_END, table};
use crate::audit::views::Present;
use crate::audit::{Attacked, Report};
use crate::picture::Html;
use crate::release::{Manifest, Treatment};
use crate::text::{decimals, grouped};

/// The section on attacks.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    if report.attacks.is_empty() {
        return;
    }
    let tried = |name: &str| report.attacks.iter().any(|attack| attack.name == name);
    let Present { coarse, weighted: _, drawn, noisy, apart, redrawn } =
        Present::of(manifest);
    let rows_known = (drawn || apart) && !(coarse || noisy || redrawn);
    let attacker = match (rows_known, tried("presence")) {
        (true, _) => "knows which row is whose",
        (false, true) => "knows the quasi values of everybody in the population",
        (false, false) if drawn || apart => {
            "knows the quasi values of everybody in the original table; where values are \
             randomized or stand apart, also whose row is whose"
        }
        (false, false) => "knows the quasi values of everybody in the original table",
    };
    let without = if drawn {
        "who sees no published value, or, for corruption, knows nobody else's"
    } else if apart {
        "who does not use groups (with background knowledge: has that knowledge and no \
         release; who learns: uses each group alone; for corruption: knows nobody else's \
         value)"
    } else if noisy {
        "who does not use published numbers (for the best guess: only which class a \
         row is in)"
    } else if tried("background-knowledge") {
        "who does not use quasi values (with background knowledge: has that knowledge \
         and no release)"
    } else {
        "who does not use quasi values"
    };
    let whom = match drawn {
        true => {
            "protected value, of those that are believed in no more than their bound before; \
             for averaging, of any value, after ten releases or those that were given"
        }
        false => "person",
    };
    let _ = write!(
        html,
        "<section>\n<h2>What our attacks could do</h2>\n<p>The attacker has this release and \
         {attacker}.</p>\n{}",
        table("", &["attack", "#success", "#chance", "#worst"]),
    );
    for attack in &report.attacks {
        let again = report.attacks.iter().filter(|known| known.name == attack.name);
        let name = match attack.word("column") {
            column if !column.is_empty() && again.count() > 1 => {
                format!("{} ({column})", attack.name)
            }
            _ => attack.name.clone(),
        };
        let _ = write!(
            html,
            "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>\n<tr class=\"note\"><td colspan=\"4\">{}</td></tr>\n",
            Html(&name),
            share(attack.success),
            share(attack.chance),
            share(attack.worst),
            Html(&sentence(attack, manifest).unwrap_or_default()),
        );
    }
    let _ = writeln!(
        html,
        "{TABLE_END}<p class=\"small\"><em>Success</em>: the share of people for \
         whom the guess is right. <em>Chance</em>: the same for an attacker {without}. \
         <em>Worst</em>: how sure the attacker can be about the most exposed {whom}.</p>",
    );
    if let Some(attack) = report.attacks.iter().find(|a| a.is("sampled") == Some(true))
    {
        let _ = writeln!(
            html,
            "<p class=\"small\">The table is large: the attacks were tried on a sample of {} \
             people, so the worst case may be worse than shown.</p>",
            grouped(attack.count("people")),
        );
    }
    html.push_str("</section>\n");
}

/// What an attack found out; nothing if it is not known.
fn sentence(attack: &Attacked, manifest: &Manifest) -> Option<String> {
    let (detail, column) =
        (|name: &str| attack.detail.get(name), attack.word("column"));
    let part = |name: &str| share(attack.number(name));
    let decimal = |name: &str| decimals(attack.number(name), 4);
    let apart =
        manifest.column(column).is_some_and(|c| c.treatment == Treatment::Apart);
    let certain = || match attack.number("certain") {
        0.0 => "About nobody is the attacker certain.".to_owned(),
        certain => {
            format!("About {} of all people the attacker is certain.", share(certain))
        }
    };
    Some(match attack.name.as_str() {
        "linkage" if manifest.person.is_some() => format!(
            "Picks a row of the group that a person is in, and is right with every row of \
             theirs: who has many of a group’s rows is found more often than one time in as \
             many as it has people. No group has fewer than {}{}.",
            people(attack.count("smallest")),
            match attack.number("alone") {
                0.0 => String::new(),
                alone =>
                    format!("; {} of all people have one for themselves", share(alone)),
            }
        ),
        "linkage" => format!(
            "Picks the row of a person among those that fit. Nobody has fewer than {} \
             that fit{}.",
            rows(attack.count("smallest")),
            match attack.number("alone") {
                0.0 => String::new(),
                alone => format!("; {} of all people have a single one", share(alone)),
            }
        ),
        "singling-out" => format!(
            "Says of each group “is in it, and has the value that a cell names”; success is \
             the share of groups in which exactly one person does, chance the same with \
             values drawn from the cells. {} of all people can be singled out so.",
            part("singled_out"),
        ),
        "homogeneity" if apart => {
            format!("Guesses the commonest value of each person’s group. {}", certain())
        }
        "homogeneity" => format!(
            "Guesses the commonest sensitive value among the rows that fit; it helps \
             most for “{column}”. {}",
            certain()
        ),
        "own-rows" => format!(
            "Knows several rows of a person, and guesses the commonest value of “{column}” \
             that all their groups have, for the {} people whose value is the same in all of \
             them. About {} of these the attacker is certain.",
            attack.count("people"),
            part("certain"),
        ),
        "intersection" => format!(
            "Finds everybody’s groups in {} releases, and guesses the value of “{column}” from \
             what they have in common; with the one that tells most, {} of all people are \
             guessed right. About {} of all people the attacker is certain, with a single \
             release about {}; of {} the attacker is more than 90% sure.",
            attack.count("releases"),
            part("alone"),
            part("certain"),
            part("certain_alone"),
            part("sure"),
        ),
        "background-knowledge" => format!(
            "Knows how values of “{column}” depend on quasi columns, and adds up the possible \
             worlds of each group. The best such knowledge is by “{}”.{}{}",
            attack.word("set"),
            match detail("above") {
                None => String::new(),
                Some(_) => format!(
                    " Of {} of all people something is believed with more than {}.",
                    match attack.number("above") {
                        0.0 => "none".to_owned(),
                        above => share(above),
                    },
                    part("bound")
                ),
            },
            not_followed(attack),
        ),
        "presence" => format!(
            "Holds the population, and says who of it is in the table from how many people \
             fit each group. {}",
            of_presence(attack),
        ),
        "counting" => format!(
            "Does the same and takes weights for the counts they are: only those people can \
             be in the table who together have these counts. {}{}",
            of_presence(attack),
            match attack.count("bounded") {
                0 => String::new(),
                n => format!(
                    " In {} the counts were too many to be followed to the end.",
                    groups(n)
                ),
            },
        ),
        "reversal" if manifest.method.each().iter().any(by_coins) => format!(
            "Holds the population, looks at published groups without their weights, and knows \
             how its groups were found: that {} because coins, or a promise, refused one that \
             was finer. {} For {} that is outside of the promised range. {}{}",
            match manifest.method.each().iter().any(|method| method.levels.is_some()) {
                true => "levels stayed as they are",
                false => "a group stayed whole",
            },
            believed(attack),
            outside(attack),
            certain_of(attack),
            unfinished(attack),
        ),
        "reversal" => format!(
            "Holds the population, looks at published groups without their weights, and knows \
             how the release was searched for: that a finer one must have broken a promise. {} \
             For {} that is outside of the promised range, which does not cover this attack. \
             {}{}",
            believed(attack),
            outside(attack),
            certain_of(attack),
            unfinished(attack),
        ),
        "minimality" => format!(
            "Knows how the release was searched for, and leaves out the ways to give the values \
             of “{column}” to people under which it would have been finer. Of {} what is then \
             believed breaks a promise, which does not cover this attack. {}{}",
            outside(attack),
            certain_of(attack),
            unfinished(attack),
        ),
        "inference" => format!(
            "Guesses the value of “{column}” of each row from the published one and the \
             matrix. The surest guess of any value, protected or not, and however common, has \
             a probability of {}.",
            part("largest"),
        ),
        "corruption" if apart => corruption_apart(attack),
        "corruption" => corruption_drawn(attack),
        "averaging" => averaging(attack, manifest),
        "dependence" => dependence(attack, manifest),
        "learned" => learned(attack),
        "calibration" if manifest.blur()?.strict => format!(
            "Computes from the original table at which level everybody is published, and \
             guesses among the rows of that level. There are {} such classes; the smallest \
             has {}.",
            grouped(attack.count("classes")),
            rows(attack.count("smallest")),
        ),
        "calibration" => format!(
            "Computes everybody’s spread from the original table, and looks up who has been \
             published with it. For {} of all people a single row has their spread.",
            part("alone"),
        ),
        "rank" => format!(
            "Ranks the people of a class by how well they fit a published row. The true one \
             was in place {} on average, and before place {} in {} of all draws; over the \
             noise, nobody is expected before place {}.",
            decimal("mean_rank"),
            decimal("k"),
            part("below"),
            decimal("smallest"),
        ),
        "best-guess" => {
            "Takes the one who fits a published row best; of noise that was drawn anew."
                .to_owned()
        }
        "matching" => format!(
            "Matches all rows of a class to all people of it at once; of noise that was drawn \
             anew. Each row alone, {} are guessed right.",
            part("row_by_row"),
        ),
        _ => return None,
    })
}

/// Between which probabilities presence is believed.
fn believed(attack: &Attacked) -> String {
    format!(
        "They are believed to be there with probabilities from {} to {}.",
        share(attack.number("smallest")),
        share(attack.number("largest"))
    )
}

/// For how many people an attack says something that is not promised to be impossible.
fn outside(attack: &Attacked) -> String {
    match attack.count("outside") {
        0 => "nobody".to_owned(),
        n => format!("{}{}", at_least(attack), people(n)),
    }
}

/// That more could be found out than was.
fn at_least(attack: &Attacked) -> &'static str {
    if attack.is("at_least") == Some(true) { "at least " } else { "" }
}

/// Whether an attack had to stop half-way.
fn unfinished(attack: &Attacked) -> &'static str {
    match attack.count("skipped") {
        0 => "",
        _ => " Not everything could be looked at.",
    }
}

/// About how many people an attacker is certain.
fn certain_of(attack: &Attacked) -> String {
    match attack.count("certain") {
        0 => "The attacker is certain about nobody.".to_owned(),
        n => {
            format!("The attacker is certain about {}{}.", at_least(attack), people(n))
        }
    }
}

fn of_presence(attack: &Attacked) -> String {
    format!("{} {}", believed(attack), certain_of(attack))
}

/// What the background-knowledge attack could not follow to the end.
fn not_followed(attack: &Attacked) -> String {
    let [binary, skipped, impossible] =
        ["binary", "skipped", "impossible"].map(|name| attack.count(name));
    let mut text = String::new();
    if binary > 0 {
        text += &format!(
            " Of {} each value was looked at alone, as all worlds are too many.",
            groups(binary)
        );
    }
    if skipped > 0 {
        text += &format!(" {} could not be looked at.", groups(skipped));
    }
    if impossible > 0 {
        text += &format!(" In {} the knowledge cannot be right.", groups(impossible));
    }
    text
}
