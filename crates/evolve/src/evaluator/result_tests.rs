use super::*;

fn score(reading: &Reading, file: &str, out: &str) -> Option<f64> {
    read(reading, file.as_bytes(), out).score
}

#[test]
fn a_result_is_read_from_the_file_then_from_the_last_line_that_is_an_object() {
    let json = Reading::Json;
    let out = "noise\n{\"score\": 1}\n{\"score\": 2, \"metrics\": {\"bytes\": 7}}\n[3]\nend\n";
    assert_eq!(score(&json, "", out), Some(2.0));
    assert_eq!(read(&json, b"", out).metrics["bytes"], 7.0);
    assert_eq!(score(&json, "{\"combined_score\": 3.5}\n", out), Some(3.5));
    for bad in [
        "{\"score\": null}",
        "{\"score\": \"1\"}",
        "{\"score\": 1, \"valid\": false}",
        "{\"metrics\": {}}",
        "1",
        "",
    ] {
        let sample = read(&json, b"", bad);
        assert!(sample.score.is_none() && sample.reason.is_some(), "{bad}");
    }
}

#[test]
fn numbers_and_counts_of_tests_are_read() {
    let number = Reading::NumberAfter("time".to_owned());
    assert_eq!(
        score(&number, "", "time: 3\ntime = -2.5e1 ms\n"),
        Some(-25.0)
    );
    assert_eq!(score(&number, "", "none"), None);
    for (out, expected) in [
        (
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured\n",
            Some(0.75),
        ),
        (
            "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
            Some(0.75),
        ),
        (
            "     Summary [   0.01s] 4 tests run: 2 passed, 2 failed, 0 skipped\n",
            Some(0.5),
        ),
        ("==== 1 failed, 3 passed in 0.12s ====\n", Some(0.75)),
        (
            "<testsuites>\n<testsuite name=\"a\" tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"1\">\n",
            Some(0.75),
        ),
        ("test result: ok. 0 passed; 0 failed; 0 ignored\n", None),
        ("nothing\n", None),
    ] {
        assert_eq!(score(&Reading::Tests, "", out), expected, "{out}");
    }
}
