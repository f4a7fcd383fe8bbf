//! Steps from one version to the next.

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

const FIRST: &str = "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1), (2)";
const SECOND: &str = "CREATE TABLE b AS SELECT x FROM a WHERE x > 1";
const THIRD: &str = "DROP TABLE a";

#[test]
fn a_file_takes_the_steps_that_it_has_not_taken() {
    let mut file = Connection::open_in_memory().unwrap();
    take(&mut file, 7, &[FIRST]).unwrap();
    assert_eq!((version(&file), count(&file, "a")), (1, Ok(2)));
    take(&mut file, 7, &[FIRST, SECOND, THIRD]).unwrap();
    assert_eq!((version(&file), count(&file, "b")), (3, Ok(1)));
    assert!(count(&file, "a").is_err());
    take(&mut file, 7, &[FIRST, SECOND, THIRD]).unwrap();
    assert_eq!((version(&file), count(&file, "b")), (3, Ok(1)));
}

#[test]
fn a_step_that_fails_takes_the_others_back() {
    let mut file = Connection::open_in_memory().unwrap();
    take(&mut file, 7, &[FIRST]).unwrap();
    let bad = "CREATE TABLE a (again INTEGER)";
    assert!(take(&mut file, 7, &[FIRST, SECOND, bad]).is_err());
    assert_eq!((version(&file), count(&file, "a")), (1, Ok(2)));
    assert!(count(&file, "b").is_err());
}
