//! Migration steps from one version to the next.

use super::*;

fn version(connection: &Connection) -> u32 {
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

fn count(connection: &Connection, table: &str) -> rusqlite::Result<u32> {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
        row.get(0)
    })
}

/// Takes steps in a transaction, which is rolled back if one fails.
fn take_all(file: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = file.transaction()?;
    take(&transaction, 7, steps)?;
    transaction.commit()
}

const FIRST: &str = "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1), (2)";
const SECOND: &str = "CREATE TABLE b AS SELECT x FROM a WHERE x > 1";
const THIRD: &str = "DROP TABLE a";

#[test]
fn a_file_takes_the_steps_that_it_has_not_taken() {
    let mut file = Connection::open_in_memory().unwrap();
    take_all(&mut file, &[FIRST]).unwrap();
    assert_eq!((version(&file), count(&file, "a")), (1, Ok(2)));
    take_all(&mut file, &[FIRST, SECOND, THIRD]).unwrap();
    assert_eq!((version(&file), count(&file, "b")), (3, Ok(1)));
    assert!(count(&file, "a").is_err());
    take_all(&mut file, &[FIRST, SECOND, THIRD]).unwrap();
    assert_eq!((version(&file), count(&file, "b")), (3, Ok(1)));
}

#[test]
fn a_step_that_fails_takes_the_others_back() {
    let mut file = Connection::open_in_memory().unwrap();
    take_all(&mut file, &[FIRST]).unwrap();
    let bad = "CREATE TABLE a (again INTEGER)";
    assert!(take_all(&mut file, &[FIRST, SECOND, bad]).is_err());
    assert_eq!((version(&file), count(&file, "a")), (1, Ok(2)));
    assert!(count(&file, "b").is_err());
}

#[test]
fn the_file_itself_refuses_what_breaks_a_rule() {
    static CLAIMS: Table = Table {
        name: "claims",
        columns: &[
            Column::text("source").with(Rule::Filled),
            Column::text("layer").with(Rule::OneOf(&["belief", "reader's"])),
            Column::integer("weight").with(Rule::Within(0, 1000)),
        ],
        indexes: &[],
    };
    let mut file = Connection::open_in_memory().unwrap();
    prepare(&mut file, Path::new("memory"), 7, &[&CLAIMS]).unwrap();
    let name = table_name(&CLAIMS);
    let insert = |values: &str| {
        let sql = format!(
            "INSERT INTO \"{name}\" (key, source, layer, weight, body) VALUES ({values}, x'')"
        );
        file.execute_batch(&sql)
    };
    insert("'a', 'ada', 'belief', 0").unwrap();
    insert("'b', 'ada', 'reader''s', 1000").unwrap();
    for broken in [
        "'c', '', 'belief', 1",
        "'c', '  ', 'belief', 1",
        "'c', 'ada', 'rumour', 1",
        "'c', 'ada', 'belief', 1001",
        "'c', NULL, 'belief', 1",
    ] {
        let error = insert(broken).unwrap_err().to_string();
        assert!(error.contains("constraint"), "{error}");
    }
}
