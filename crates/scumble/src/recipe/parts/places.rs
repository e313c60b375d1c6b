//! Which part of a recipe a method is for.

use crate::error::{Error, Result};
use crate::recipe::MethodSpec;
use crate::recipe::methods::{Keeps, METHODS, Method, Treats};
use crate::recipe::parts::check::find_column;
use crate::recipe::parts::{Mixture, Wanted};

impl<'a> Mixture<'a> {
    /// Which of the wanted parts a method is for: one, or several columns that stand apart.
    pub(super) fn places(
        &self,
        method: &MethodSpec,
        wanted: &[Wanted<'a>],
    ) -> Result<Vec<usize>> {
        let said = method.columns.as_deref();
        for (name, spot) in said.unwrap_or_default() {
            find_column(self.spec, name, *spot)?;
        }
        let meant = |part: &&(usize, &Wanted<'a>)| match said {
            None => true,
            Some(said) => {
                let named = |name: &str| said.iter().any(|(said, _)| said == name);
                match part.1.treats {
                    Treats::Apart => part.1.columns.iter().all(|name| named(name)),
                    _ => said.iter().all(|(name, _)| part.1.columns.contains(&&**name)),
                }
            }
        };
        let able = |part: &(usize, &Wanted<'a>)| {
            let keeps = |method: &dyn Method| {
                let mut promises = part.1.promises.iter();
                method.treats() == part.1.treats
                    && promises.all(|p| method.keeps(p.kind.promise()) != Keeps::No)
            };
            match method.name {
                Some(named) => named.treats() == part.1.treats,
                None => METHODS.iter().any(|known| {
                    keeps(*known)
                        && method
                            .keys
                            .iter()
                            .all(|(key, _)| known.keys().contains(&&**key))
                }),
            }
        };
        let parts: Vec<(usize, &Wanted<'a>)> = wanted.iter().enumerate().collect();
        let fit: Vec<&(usize, &Wanted<'a>)> =
            parts.iter().filter(|part| able(part)).filter(meant).collect();
        let called = method.name.map_or("this method", |method| method.name());
        // Columns that stand apart are each a part of their own.
        let apart = fit.iter().all(|part| part.1.treats == Treats::Apart);
        let covered = said.is_none_or(|said| said.len() == fit.len());
        match fit[..] {
            [one] if !apart || covered => Ok(vec![one.0]),
            [_, ..] if apart && covered => Ok(fit.iter().map(|part| part.0).collect()),
            [_, ..] if apart => {
                let error = Error::recipe(format!(
                    "`{called}` is for columns of which not all are to stand apart"
                ));
                let hint = "its `columns` are not those of a promise that it keeps";
                Err(self.error_of(method, error.with_hint(hint)))
            }
            [] if method.name.is_some_and(|m| m.treats() == Treats::Everything) => {
                let error = Error::recipe(format!(
                    "`{called}` cannot be one of several methods: it decides about all rows \
                     and columns"
                ));
                Err(self.error_of(method, error))
            }
            [] => {
                let error = Error::recipe(format!("`{called}` has nothing to keep"));
                let hint = match said {
                    Some(_) => "its `columns` are not those of a promise that it keeps",
                    None => "no promise of the recipe is one that it keeps",
                };
                Err(self.error_of(method, error.with_hint(hint)))
            }
            _ => {
                let error = Error::recipe(format!(
                    "it is not clear which columns `{called}` is for"
                ));
                let hint = match method.name {
                    Some(_) => "say `columns = [...]`",
                    None => "say the `name` of the method",
                };
                Err(self.error_of(method, error.with_hint(hint)))
            }
        }
    }
}
