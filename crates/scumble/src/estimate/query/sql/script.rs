//! One question, or a file of them.

use sqlparser::ast::Statement;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::error::{Error, Result};
use crate::estimate::query::Ask;
use crate::estimate::query::sql::{EXAMPLE, not_understood, query_of};

/// The most words and signs, values in lists aside: the parser goes as deep as they do.
const MOST_TOKENS: usize = 2000;

impl Ask {
    /// Reads one question.
    pub fn parse(text: &str) -> Result<Self> {
        let mut statements = split(text)?;
        match (statements.pop(), statements.is_empty()) {
            (Some(tokens), true) => Self::of(tokens),
            (None, _) => Err(Error::recipe("the question is empty").with_hint(EXAMPLE)),
            _ => Err(Error::recipe("ask one question at a time").with_hint(EXAMPLE)),
        }
    }

    /// Reads several questions with `;` between them; `name` is what errors call their file.
    pub fn parse_several(text: &str, name: &str) -> Result<Vec<Self>> {
        let statements = split(text).map_err(|error| error.in_file(name))?;
        if statements.is_empty() {
            let error = Error::recipe("there are no questions in the file");
            return Err(error.in_file(name).with_hint(EXAMPLE));
        }
        let numbered = (1..).zip(statements);
        let read = |(number, tokens): (usize, Vec<Token>)| {
            let place = format!("{name}, question {number}");
            Self::of(tokens).map_err(|error| error.in_file(place))
        };
        numbered.map(read).collect()
    }

    fn of(tokens: Vec<Token>) -> Result<Self> {
        let deep = |token: &&Token| {
            !matches!(
                token,
                Token::Whitespace(_)
                    | Token::Comma
                    | Token::Number(..)
                    | Token::SingleQuotedString(_)
            )
        };
        if tokens.iter().filter(deep).count() > MOST_TOKENS {
            return Err(Error::recipe("the question is too long")
                .with_hint("many values of a column fit in `IN (...)`"));
        }
        let text: String = tokens.iter().map(ToString::to_string).collect();
        let mut statements = Parser::new(&GenericDialect {})
            .with_tokens(tokens)
            .parse_statements()
            .map_err(|error| malformed(&error))?;
        match (statements.pop(), statements.is_empty()) {
            (Some(Statement::Query(query)), true) => {
                query_of(*query, text.trim().to_owned())
            }
            (Some(other), true) => Err(not_understood(&other)),
            _ => Err(Error::recipe("ask one question at a time").with_hint(EXAMPLE)),
        }
    }
}

/// The words of each statement.
fn split(text: &str) -> Result<Vec<Vec<Token>>> {
    let tokens = Tokenizer::new(&GenericDialect {}, text)
        .tokenize()
        .map_err(|error| malformed(&error))?;
    let statements = tokens.split(|token| *token == Token::SemiColon);
    let has_words = |statement: &&[Token]| {
        statement.iter().any(|token| !matches!(token, Token::Whitespace(_)))
    };
    Ok(statements.filter(has_words).map(<[Token]>::to_vec).collect())
}

fn malformed(error: &dyn std::fmt::Display) -> Error {
    let words = error.to_string();
    let words = words.trim_start_matches("sql parser error: ");
    Error::recipe(format!("this is not SQL: {words}")).with_hint(EXAMPLE)
}
