//! Whether a sentence of English wants something done: "turn off the lights", "please buy milk", "I want you to call Bob".
//!
//! A sentence that begins with the bare form of a verb is an imperative, unless that word is the subject of a later verb
//! ("Help is on the way"). Verbs that are nouns as often ("water", "book") count only before a word that cannot follow a
//! subject: an article, a pronoun, a particle. A statement taken for a command would be lost to memory, so that rules
//! decide for the statement where a sentence could be both.

/// Whether the words of a sentence, in lower case, want something done.
pub(super) fn is_imperative(words: &[&str]) -> bool {
    let words = without_opening(words);
    let polite = words.last() == Some(&"please") && words.len() > 1;
    begins_with_verb(words, polite) || REQUESTS.iter().any(|it| begins(words, it))
}

/// Whether what follows a comma wants something done: "when I leave, turn off the lights"; "Scout, call Bob".
pub(super) fn is_imperative_after(before: &[&str], after: &[&str]) -> bool {
    let condition = before.first().is_some_and(|it| CONDITIONS.contains(it));
    (condition || before.len() == 1) && is_imperative(after)
}

/// Whether a word in lower case is a verb that begins requests, also if it is a noun as often.
pub(super) fn is_verb(word: &str) -> bool {
    [VERBS, REQUESTED, NOUNS_TOO]
        .iter()
        .any(|list| has(list, word))
}

fn begins_with_verb(words: &[&str], polite: bool) -> bool {
    let (Some(verb), rest) = (words.first(), words.get(1..).unwrap_or_default()) else {
        return false;
    };
    let is_subject = |within: usize| rest.iter().take(within).any(|it| FINITE.contains(it));
    if has(VERBS, verb) {
        return !is_subject(1);
    }
    let opens = |openers: &[&str]| rest.first().is_some_and(|it| openers.contains(it));
    let object = opens(&OBJECTS);
    if has(REQUESTED, verb) {
        return object || !is_subject(3);
    }
    if has(NOUNS_TOO, verb) {
        return (object || polite) && !is_subject(3) || opens(&PARTICLES) && !is_subject(8);
    }
    is_unknown_verb(verb, rest)
}

/// Whether an unknown word is a verb: what follows is an object, and the sentence has no other verb. "frobnicate the server"
/// is a command; "yesterday the server failed" and "Ada the baker sings" are not.
fn is_unknown_verb(word: &str, rest: &[&str]) -> bool {
    let no_verb = NO_VERBS.contains(&word)
        || ["ing", "ly", "s"].iter().any(|end| word.ends_with(end))
        || word.chars().any(|it| !it.is_alphabetic());
    let object = rest.first().is_some_and(|it| DETERMINERS.contains(it)) && rest.len() > 1;
    let is_finite = |it: &&str| FINITE.contains(it) || PAST.contains(it);
    // A verb with an ending may come after the noun.
    let may_be = |it: &&str| it.ends_with('s') || it.ends_with("ed");
    !no_verb && object && !rest.iter().any(is_finite) && !rest.iter().skip(2).any(may_be)
}

/// The words after those that only lead up to a request.
fn without_opening<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let leads = |word: &&&str| OPENING.contains(*word);
    let count = words.iter().take_while(leads).count();
    &words[count..]
}

fn begins(words: &[&str], with: &str) -> bool {
    let mut words = words.iter();
    with.split(' ').all(|word| words.next() == Some(&word))
}

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

/// Words before a request that change nothing about it.
const OPENING: [&str; 22] = [
    "please",
    "now",
    "then",
    "and",
    "just",
    "kindly",
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "so",
    "well",
    "also",
    "first",
    "next",
    "later",
    "today",
    "tomorrow",
    "tonight",
    "quickly",
    "immediately",
];

/// How a clause begins that says when or whether something is to be done.
const CONDITIONS: [&str; 10] = [
    "if", "when", "whenever", "once", "after", "before", "as", "unless", "until", "while",
];

/// Beginnings of requests that do not begin with their verb.
const REQUESTS: [&str; 15] = [
    "i want you to",
    "i need you to",
    "i expect you to",
    "i would like you to",
    "i d like you to",
    "i ask you to",
    "you should",
    "you must",
    "you need to",
    "you have to",
    "you ought to",
    "you are to",
    "do not",
    "don t",
    "would you",
];

/// Verbs with a subject before them: the word in front of one of these is no imperative.
const FINITE: [&str; 38] = [
    "is", "are", "was", "were", "has", "have", "had", "does", "did", "will", "would", "can",
    "could", "should", "must", "may", "might", "isn", "aren", "wasn", "weren", "won", "took",
    "takes", "went", "goes", "came", "comes", "got", "gets", "made", "makes", "became", "began",
    "begins", "starts", "ends", "costs",
];

/// What follows an imperative and seldom a subject: articles, pronouns and numbers in words.
const OBJECTS: [&str; 31] = [
    "the",
    "a",
    "an",
    "my",
    "our",
    "your",
    "his",
    "her",
    "their",
    "this",
    "that",
    "these",
    "those",
    "all",
    "every",
    "some",
    "any",
    "it",
    "me",
    "us",
    "him",
    "them",
    "one",
    "two",
    "three",
    "another",
    "what",
    "whatever",
    "everything",
    "both",
    "each",
];

/// Articles and possessives: after a verb they begin its object.
const DETERMINERS: [&str; 15] = [
    "the", "a", "an", "my", "our", "your", "his", "her", "their", "this", "these", "those", "all",
    "every", "both",
];

/// Words before an article that are no verbs: adverbs, prepositions, conjunctions, pronouns, questions, exclamations.
const NO_VERBS: [&str; 75] = [
    "about",
    "above",
    "across",
    "after",
    "against",
    "all",
    "almost",
    "along",
    "although",
    "always",
    "am",
    "among",
    "around",
    "as",
    "at",
    "because",
    "before",
    "behind",
    "below",
    "beside",
    "between",
    "beyond",
    "both",
    "but",
    "by",
    "despite",
    "during",
    "even",
    "ever",
    "everybody",
    "everyone",
    "except",
    "for",
    "from",
    "half",
    "how",
    "if",
    "in",
    "inside",
    "into",
    "like",
    "maybe",
    "near",
    "never",
    "not",
    "of",
    "off",
    "often",
    "on",
    "once",
    "or",
    "out",
    "outside",
    "over",
    "perhaps",
    "quite",
    "since",
    "such",
    "than",
    "that",
    "though",
    "through",
    "till",
    "toward",
    "under",
    "until",
    "what",
    "when",
    "where",
    "while",
    "with",
    "within",
    "without",
    "yesterday",
    "yet",
];

/// Past forms without an ending that shows them.
const PAST: [&str; 34] = [
    "said", "told", "saw", "knew", "thought", "found", "gave", "left", "felt", "kept", "sent",
    "built", "lost", "met", "paid", "ran", "sat", "sold", "spoke", "stood", "taught", "won",
    "wrote", "ate", "bought", "brought", "broke", "chose", "drank", "drove", "fell", "flew",
    "sang", "slept",
];

/// Particles and prepositions: they follow an imperative, and a noun as well ("book on the shelf").
const PARTICLES: [&str; 15] = [
    "up", "off", "out", "down", "away", "back", "on", "over", "for", "to", "with", "into", "about",
    "at", "in",
];

/// Verbs that are seldom another word.
const VERBS: &str = "\
    accept activate add adjust admit advise agree allow announce apologise apologize append apply approve \
    arrange ask assign attach avoid bake be become begin believe borrow bring browse build buy calculate cancel \
    carry catch choose clarify collect come compile complain compose compute concentrate confirm connect \
    consider continue convert correct create deactivate decide decline define delete deliver deploy describe \
    destroy detect determine develop disable disconnect discover discuss dismiss distribute divide eat eliminate \
    employ enable encourage encrypt enjoy ensure enter erase evaluate examine execute exit expand explain \
    explore extend extract fetch fill find forget forward generate get give go grab greet grow guarantee hear \
    hide hurry identify ignore illustrate imagine implement improve include inform insert inspect install \
    instruct interpret introduce invent investigate invite join keep kill know learn leave lend let listen \
    locate lower maintain make mention merge modify multiply notify obey observe obtain oppose organise organize \
    pay perform persuade postpone predict prepare pretend prevent proceed produce propose protect prove provide \
    publish put read realise realize rebuild recall receive recommend reduce refer refuse reject relax remember \
    remind remove repeat replace reproduce reserve resolve respond restart restore resume retrieve revise \
    rewrite save say schedule see select sell send separate serve shut simplify sing sit solve speak spell spend \
    stand submit subtract suggest summarise summarize supply take teach tell thank think throw translate try \
    understand undo uninstall unlock unplug unsubscribe verify wake wear wipe withdraw write \
    archive chop compress configure decrypt defragment duplicate export fry initialise initialize migrate mow peel prune \
    purge reboot recompile refactor reformat refresh reindex reload resize rotate sew shuffle simulate sweep synchronise \
    synchronize tighten toggle upgrade validate vacuum";

/// Verbs that are nouns, too, and that take an object without an article: "list files", "run cargo test", "set alarm".
const REQUESTED: &str = "\
    call cat compare cook download drink drive edit fix hand help hire import increase list look ls note open \
    pause pick praise print promise pull push raise release rename repair reply rescue review run scan search \
    set show start stop store transfer turn update upgrade upload use visit wait wash win";

/// Verbs that are nouns or adjectives as often.
const NOUNS_TOO: &str = "\
    address answer back balance bill block boil book break brush care change charge charm check clean clear \
    close comment contact control copy count cover cross cut dance date deal delay design dim display document \
    double dress drop dry dust email empty end estimate exchange exercise fax feed file finish fire flag fold \
    follow force freeze guard guess guide halt handle hang heat hold iron judge kick label land lead light link \
    load lock log mail manage mark match measure mind mix monitor move mute name network number offer order pack \
    paint park pass paste phone photograph place plan plant play plug point post practice press process program \
    question quit quote rate record report request research rest return ring rinse roll rule sail sample score \
    seal seat share shop sign silence sketch skip sleep smile sort sound stay step stick study support switch \
    tag talk target taste test text tidy tie time top touch trace track trade train trim trust type view vote \
    walk warm warn watch water weigh whisper wish work worry wrap zip \
    flush format mop patch ping reset scale sync weed";
