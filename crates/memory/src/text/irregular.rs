//! Irregular forms of English words, which a stemmer cannot reduce to their base.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// Each line: the base, then its other forms.
const FORMS: &str = "
    be been
    become became
    begin began begun
    bite bit bitten
    blow blew blown
    break broke broken
    bring brought
    build built
    buy bought
    catch caught
    child children
    choose chose chosen
    come came
    draw drew drawn
    drink drank drunk
    drive drove driven
    eat ate eaten
    fall fell fallen
    feel felt
    fight fought
    find found
    fly flew flown
    foot feet
    forget forgot forgotten
    forgive forgave forgiven
    freeze froze frozen
    get got gotten
    give gave given
    go went gone
    grow grew grown
    hang hung
    hear heard
    hide hid hidden
    hold held
    keep kept
    know knew known
    lead led
    leave left
    lend lent
    lose lost
    make made
    man men
    mean meant
    meet met
    mouse mice
    pay paid
    person people
    ride rode ridden
    ring rang rung
    rise rose risen
    run ran
    say said
    see saw seen
    sell sold
    send sent
    shake shook shaken
    sing sang sung
    sit sat
    sleep slept
    speak spoke spoken
    spend spent
    stand stood
    steal stole stolen
    swim swam swum
    take took taken
    teach taught
    tell told
    think thought
    throw threw thrown
    tooth teeth
    understand understood
    wake woke woken
    wear wore worn
    wife wives
    win won
    woman women
    write wrote written
    father dad daddy papa
    mother mom mum mama
    child kid kids
";

/// The base of an irregular form in lower case.
pub(super) fn base(word: &str) -> Option<&'static str> {
    static BASES: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let lines = FORMS.lines().map(str::split_whitespace);
        lines
            .filter_map(|mut line| line.next().map(|base| (base, line)))
            .flat_map(|(base, forms)| forms.map(move |form| (form, base)))
            .collect()
    });
    BASES.get(word).copied()
}
