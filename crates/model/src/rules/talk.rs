//! Phrases besides requests: greetings, thanks, and questions about the agent itself.
//!
//! A phrase is answered in words, or by the tool `about`, which knows the agent: who it is, what it did and why.

use std::sync::LazyLock;

use serde_json::json;

use super::answer;
use super::pattern::Pattern;
use super::text::Words;
use super::{NoModel, Plan};
use crate::request::Tool;

/// The tool that tells about the agent, and its field.
const ABOUT: (&str, &str) = ("about", "topic");

/// How a phrase is answered.
#[derive(Clone, Copy)]
enum Reply {
    Text(&'static str),
    /// The text, where no tool has this name; a tool that has it is called instead.
    Without(&'static str, &'static str),
    Hello,
    Help,
    /// By the tool `about`, on this topic.
    About(&'static str),
}

struct Phrase {
    reply: Reply,
    patterns: &'static [&'static str],
}

const PHRASES: &[Phrase] = &[
    Phrase {
        reply: Reply::Hello,
        patterns: &[
            "(hello|hi|hey|hiya|howdy|yo|hallo|hola|olá|ciao|salut|bonjour|moin|greetings|hei|hej|你好|привет|こんにちは|안녕하세요) [there|again|you|all|everyone|friend|monas|agent|bot]",
            "good (morning|afternoon|evening|day) [to] [you|all|everyone|there]",
        ],
    },
    Phrase {
        reply: Reply::Text("Pong: I am here. Say help for what I can do."),
        patterns: &["ping"],
    },
    Phrase {
        reply: Reply::Text("Yes, I am here, and I read you. Say help for what I can do."),
        patterns: &[
            "(test|testing) [test|testing|this|123|1] [2] [3]",
            "[hello] [is] (anyone|anybody|someone|somebody) (there|here|home)",
            "are you (there|here|alive|awake|online|ready|listening|up|working) [now|yet]",
            "[hello] can you (hear|read|see) me",
            "does (this|it) work",
            "is (this|it) (on|working)",
        ],
    },
    Phrase {
        reply: Reply::Text("I am well, thank you, and ready. What can I do for you?"),
        patterns: &[
            "how are you [doing|feeling] [today|now|there]",
            "how is it going [today]",
            "how do you do",
            "how is your day",
            "(sup|wassup|whatsup)",
            "what is up",
            "are you (ok|okay|well|fine|good)",
        ],
    },
    Phrase {
        reply: Reply::Text("You are welcome."),
        patterns: &[
            "[ok|okay|great|cool|perfect|nice|awesome|wow] [many] (thanks|thank|thx|ty|cheers|danke|merci|gracias) [you|u|a] [so|very|for|lot] [much|lot|that|all] [for]",
            "[ok|okay|great|cool|perfect|nice|awesome] (thanks|thank|thx) {rest}",
            "i appreciate {rest}",
        ],
    },
    Phrase {
        reply: Reply::Text("Thank you, I am glad to help. What next?"),
        patterns: &[
            "(you|this|that) (are|is) [very|really|so] (great|awesome|helpful|nice|good|cool|amazing|smart|clever|useful|brilliant)",
            "good (job|bot|work|one)",
            "well done",
            "i (like|love) (you|this|it)",
            "you (rock|rule)",
        ],
    },
    Phrase {
        reply: Reply::Text("Good. If you need anything, I am ready: say help for what I can do."),
        patterns: &[
            "(ok|okay|k|cool|nice|great|good|perfect|awesome|alright|right|fine|lol|haha|wow|hmm|interesting|sure|understood|excellent|super|neat) [then|cool|good|great|i|that] [see|understand|works]",
            "(i|got) (see|understand|it)",
            "never mind",
            "nevermind",
            "nothing",
        ],
    },
    Phrase {
        reply: Reply::Text(
            "There is no question of mine that waits for a yes or no in this conversation.",
        ),
        patterns: &["(yes|no|yep|yeah|nope|y|n|yup|approve|reject)"],
    },
    Phrase {
        reply: Reply::Text("Goodbye, and see you later. What you told me to remember is kept."),
        patterns: &[
            "(bye|goodbye|byebye|farewell|cya) [bye|for] [now|all]",
            "good night",
            "see (you|ya) [later|soon|tomorrow|around]",
            "(talk|speak) to you (later|soon|tomorrow)",
            "until (tomorrow|later|next)",
        ],
    },
    Phrase {
        reply: Reply::Text("No problem at all."),
        patterns: &[
            "[i] [am] [so|very] sorry [about] [that|for]",
            "my (bad|mistake|fault|apologies)",
            "(oops|ups|whoops|pardon)",
            "excuse me",
        ],
    },
    Phrase {
        reply: Reply::Text(
            "I am sorry that I am of so little help. I do better with direct requests: try \"list my files\", or say help \
             for all that I can do.",
        ),
        patterns: &[
            "(you|this|it|that) (are|is) [so|very|really|totally|completely|such] [a] (useless|stupid|dumb|bad|terrible|annoying|broken|slow|awful|horrible|wrong|crap|garbage|idiot|nonsense|rubbish) [bot|thing|program]",
            "(this|it) (does|do) not work",
            "you (suck|failed|lie)",
            "(wtf|damn|shit|fuck) [you|this|it]",
            "that is not what i (meant|asked|wanted|said) [for]",
        ],
    },
    Phrase {
        reply: Reply::Help,
        patterns: &[
            "(help|commands|menu|usage|options|man|examples|manual|tutorial|instructions) [me] [please|out]",
            "i need [some|your] help",
            "can you help [me] [please]",
            "what (can|could|do|would) you (do|help) [for|with|me] [me|here]",
            "what (can|could|should|do|must) i (ask|say|type|do|try|write|enter) [you|here|now|to] [about|do|for]",
            "what are you (able|capable) [to|of] [do|doing]",
            "what are your (skills|abilities|capabilities|tools|commands|features|functions)",
            "what (skills|tools|commands|abilities|features|functions|capabilities) (do|are|can) [you] [i|have|there|use]",
            "(which|what) (skills|tools|commands) {rest}",
            "(list|show) [me] [your|all|the] [available] (skills|tools|commands|abilities|capabilities|features)",
            "how does (this|it|that) [thing|all] work",
            "how do you work",
            "how (do|can|should|does) (i|one|we) (use|start|begin|talk|work|interact|operate) {rest}",
            "how (do|can|should) (i|we) (start|begin)",
            "where (do|should|can) i (start|begin)",
            "{rest} where (do|should|can) i (start|begin)",
            "(show|give|tell) [me] [an|some|a] (example|examples)",
            "what is this [thing|place|about|for]",
            "what now",
            "(getting|get) started",
            "i (am|do) [not] (lost|confused|stuck)",
            "what do you do [here|exactly|really|then]",
            "can you (help|assist) [me] (with|on|in) {rest}",
        ],
    },
    Phrase {
        reply: Reply::About("self"),
        patterns: &[
            "(who|what) are you [exactly|really|then]",
            "who is this",
            "what is your name",
            "what should i call you",
            "do you have a name",
            "who (made|built|created|wrote|developed|programmed|runs|owns) (you|this)",
            "where (are|do) you (from|come|live|run) [from]",
            "are you [a|an|the|really|just|still] [real|chat] (bot|chatbot|robot|human|person|ai|machine|program|computer|chatgpt|gpt|claude|gemini|llama|llm|copilot|siri|alexa|real|conscious|sentient|agent|assistant|alive) [or] {rest}",
            "are you [a|an|the|really|just|still] [real|chat] (bot|chatbot|robot|human|person|ai|machine|program|computer|chatgpt|gpt|claude|gemini|llama|llm|copilot|siri|alexa|real|conscious|sentient|agent|assistant|alive)",
            "(introduce|describe) yourself",
            "tell me (about|of|something) [about] yourself",
            "tell me who you are",
            "(what|which) [language] (model|llm|ai) {rest}",
            "(what|which) version [are] {rest}",
            "(what|which) version",
            "version",
            "what is monas [about|for]",
            "(what|who) is monas",
            "whoami",
        ],
    },
    Phrase {
        reply: Reply::About("status"),
        patterns: &[
            "[show|what] [me|is] [your|the|current] status",
            "what are you (doing|working|up|busy) [on|with|to|at] [now|today|right|currently] [now]",
            "are you (busy|idle|free|paused|stuck|done|finished) [now|with] [it|that]",
            "what is (running|waiting|pending|going) [now|on]",
            "is (anything|something) (running|waiting|pending)",
            "(what|which) (tasks|requests) (are|do) {rest}",
            "(list|show) [me] [my|the|all|open] (tasks|approvals|requests)",
            "(tasks|approvals)",
        ],
    },
    Phrase {
        reply: Reply::About("doings"),
        patterns: &[
            "what have you [been] (doing|done|up) [today|lately|recently|so|for|since|to|here] [far|me|yesterday]",
            "what did you do [today|yesterday|lately|last|so|before|just] [far|now|night|week]",
            "what (happened|changed) [today|yesterday|so|here|last|since] [far|night|week|yesterday]",
            "(show|list|give) [me] [your|the] (history|log|logs|journal|activity|activities)",
            "(history|log|journal)",
            "what have i [been] (asked|asking|said|told|done) [you] [so|today] [far]",
        ],
    },
    Phrase {
        reply: Reply::About("why"),
        patterns: &[
            "why",
            "why not",
            "why that",
            "why (did|have|do|are|would|were) you {rest}",
            "but why",
            "how come [that]",
            "what made you {rest}",
            "(explain|justify) [that|this|yourself|it] [please|to] [me]",
            "explain (why|what) you {rest}",
            "for what reason",
            "what was that (for|about)",
            "who told you {rest}",
        ],
    },
    Phrase {
        reply: Reply::About("law"),
        patterns: &[
            "what is (your|the) (law|policy|constitution)",
            "what are (your|the) (rules|laws|principles|limits|values|policies|boundaries)",
            "(show|tell|print|explain|give|list) [me] [your|the] (law|laws|rules|policy|principles)",
            "(what|which) (rules|laws|principles|policies) (do|are|must|govern) {rest}",
            "(law|laws|rules)",
            "what (will|would) you (never|not) do",
            "what (can|cannot) [not] you [not] do",
            "what are you not allowed [to] [do]",
        ],
    },
    Phrase {
        reply: Reply::About("approval"),
        patterns: &[
            "(do|will|would) you (ask|tell|warn|check) [me|with|for] {rest}",
            "can you {rest} without (asking|permission|approval|me)",
            "what are you allowed [to] [do]",
            "(can|should|may) i trust you",
            "are you (safe|dangerous|trustworthy|secure) [to] [use]",
            "do you need [my|a] (permission|approval) {rest}",
            "do you need [my|a] (permission|approval)",
            "what needs [my|an] approval",
        ],
    },
    Phrase {
        reply: Reply::About("agents"),
        patterns: &[
            "(list|show) [me] [all|the|your|other] agents",
            "agents",
            "who else is (here|there|around)",
            "(what|which) [other] agents {rest}",
            "are there [any] other agents [here|there]",
            "how many agents {rest}",
            "are you alone [here]",
            "do you know [any] other agents",
        ],
    },
    Phrase {
        reply: Reply::About("pause"),
        patterns: &[
            "(pause|resume|unpause|sleep|suspend) [yourself|now|please|it|all|work|everything]",
            "(wake|shut) (up|down)",
            "go to sleep",
            "how do i (pause|resume) {rest}",
        ],
    },
    Phrase {
        reply: Reply::About("stop"),
        patterns: &[
            "(stop|cancel|abort|halt|enough) [it|that|this|now|everything|please|doing|all|working] [that|now]",
            "how do i (stop|cancel|abort) (a|the|this|that|my) {rest}",
        ],
    },
    Phrase {
        reply: Reply::About("quit"),
        patterns: &[
            "(quit|exit|logout|logoff|q|leave)",
            "how (do|can) i (quit|exit|leave|close|end|log) {rest}",
            "how (do|can) i (quit|exit|leave|close|end)",
            "how do i stop you",
        ],
    },
    Phrase {
        reply: Reply::About("time"),
        patterns: &[
            "what [is] [the] time [is] [it] [now|please|there]",
            "what is the (time|date|day|year|month) [today|now|please|tomorrow|yesterday]",
            "what (day|date) is [it] (tomorrow|yesterday)",
            "(what|which) (day|date|year|month|weekday) (is|do) (it|today|this|we) [today|now|have]",
            "what is today [date]",
            "what is todays date",
            "(tell|give|show) [me] the (time|date|day) [please]",
            "(time|date|clock|today)",
            "do you (have|know) (the|what) (time|date|day) [it|is] [is|it]",
        ],
    },
    Phrase {
        reply: Reply::About("model"),
        patterns: &[
            "how (do|can|could|would|should) (i|we) (connect|add|configure|use|set|give|install|enable|change|switch|get|plug) [you|up|in] [to] [a|an|the|my|another] [language|local|different|new|better|real|ai] (model|models|llm|ai|gpt|ollama|openai|claude|gemini|chatgpt) [to|with|for] {rest}",
            "how (do|can|could|would|should) (i|we) (connect|add|configure|use|set|give|install|enable|change|switch|get|plug) [you|up|in] [to] [a|an|the|my|another] [language|local|different|new|better|real|ai] (model|models|llm|ai|gpt|ollama|openai|claude|gemini|chatgpt)",
            "(can|could|may|do|does|will) (i|you|we|it|monas) (use|support|work|connect|run|have|need|speak|talk) [with|to] [a|an|the|my] [local|language|open|ai] (ollama|openai|gpt|chatgpt|claude|anthropic|gemini|llama|model|models|llm|lmstudio|vllm|mistral|deepseek) {rest}",
            "(can|could|may|do|does|will) (i|you|we|it|monas) (use|support|work|connect|run|have|need|speak|talk) [with|to] [a|an|the|my] [local|language|open|ai] (ollama|openai|gpt|chatgpt|claude|anthropic|gemini|llama|model|models|llm|lmstudio|vllm|mistral|deepseek)",
            "(use|connect|enable) [to|the|a|my] (ollama|openai|gpt|gpt-4|gpt-5|gpt-4o|chatgpt|claude|anthropic|gemini|llama|llm|mistral|model|ai)",
            "where (do|can|should) i (put|set|enter|add|store|type|paste) [my|the|an|a] [openai|anthropic|gemini|api] [api] key {rest}",
            "where (do|can|should) i (put|set|enter|add|store|type|paste) [my|the|an|a] [openai|anthropic|gemini|api] [api] key",
            "why (do|can|did) [not] you [not] (understand|get) {rest}",
            "why (do|can|did) [not] you [not] (understand|get)",
            "you (do|did) not (understand|get) (me|it|that|anything)",
            "(ollama|openai|model|models|llm)",
            "is there a [language] model",
        ],
    },
    Phrase {
        reply: Reply::About("data"),
        patterns: &[
            "where (is|are) (my|the|your|all) (data|files|memory|memories|notes|conversations|database|workspace|project) [stored|kept|saved|located|folder]",
            "where do you (store|keep|save|put) {rest}",
            "(is|are) (my|this|the|our) (data|conversation|conversations|files|chat|information|messages) (private|safe|secure|encrypted|stored|public|shared)",
            "do you (send|share|store|keep|save|sell|collect|upload|record) (my|our|any|this|these|the) {rest}",
            "what do you do with my {rest}",
            "who can (see|read) {rest}",
            "what is (the|your|my) (workspace|project) [folder]",
        ],
    },
    Phrase {
        reply: Reply::About("internet"),
        patterns: &[
            "do you have [any] [access] [to] [the] (internet|web|online) [access|connection]",
            "(can|do) you (access|search|browse|use|reach|go|surf|have) [to|on] [the] (internet|web|google|online) [access|for] {rest}",
            "(can|do) you (access|search|browse|use|reach|go|surf|have) [to|on] [the] (internet|web|google|online) [access]",
            "are you connected to the (internet|web)",
        ],
    },
    Phrase {
        reply: Reply::Without(
            "undo",
            "I cannot undo what was done: I keep no earlier versions of files. That is why I show every change of a file, and \
             ask, before I make it. What I remember can be forgotten: say forget, and what.",
        ),
        patterns: &[
            "(undo|revert|rollback) [it|that|this|the|my|last|please|your|everything|all] [last|previous] [change|changes|edit|action|step|one|thing]",
            "(roll|take|put|bring|change) (it|that|this) back",
            "(restore|recover) {rest}",
            "go back",
            "(can|could) you undo {rest}",
        ],
    },
    Phrase {
        reply: Reply::Text(
            "I delete one file at a time, and ask before each: name the file, as in \"delete notes.md\". I will not delete \
             everything at once.",
        ),
        patterns: &[
            "(delete|remove|erase|wipe|destroy|clear) [absolutely] (everything|all) [of|my|the|files|it|them|folders|data|here] [files|them|it|data|folders|in] [here|it]",
            "(format|wipe) [the|my] (disk|drive|computer|workspace|project)",
        ],
    },
    Phrase {
        reply: Reply::Text("What shall I remember? Say it as in: remember that Ada likes coffee."),
        patterns: &["(remember|memorize|memorise|note) [that|this|it|something|these|down]"],
    },
    Phrase {
        reply: Reply::Text(
            "Tell me your name, as in \"my name is Ada\", and I offer to remember it.",
        ),
        patterns: &["[you] [can|may] [just] call me {name}"],
    },
    Phrase {
        reply: Reply::Text("What shall I forget? Say it as in: forget that Ada likes coffee."),
        patterns: &["forget [that|this|it|something|about] [it|that]"],
    },
];

static READ: LazyLock<Vec<(Reply, Vec<Pattern>)>> = LazyLock::new(|| {
    let read = |phrase: &Phrase| {
        let patterns = phrase.patterns.iter();
        (
            phrase.reply,
            patterns.filter_map(|it| Pattern::phrase(it)).collect(),
        )
    };
    PHRASES.iter().map(read).collect()
});

/// The plan for a phrase, if the words are one that these tools can answer.
pub(super) fn plan(words: &Words<'_>, tools: &[Tool], cause: NoModel) -> Option<Plan> {
    let phrases = READ.iter().filter(|(_, patterns)| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| pattern.fill(words).is_some())
    });
    for (reply, _) in phrases {
        match reply {
            Reply::Text(text) => return Some(Plan::Answer((*text).to_owned())),
            Reply::Without(name, text) => {
                if !tools.iter().any(|tool| tool.name == *name) {
                    return Some(Plan::Answer((*text).to_owned()));
                }
            }
            Reply::Hello => return Some(Plan::Answer(answer::hello(tools, cause))),
            Reply::Help => return Some(Plan::Answer(answer::help(tools, cause))),
            Reply::About(topic) => {
                let about = tools.iter().find(|tool| {
                    tool.name == ABOUT.0 && super::fields::field(tool, ABOUT.1).is_some()
                });
                if let Some(tool) = about {
                    return Some(super::calls(tool, [json!({ (ABOUT.1): topic })]));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Plan, plan};
    use super::{PHRASES, Pattern};
    use crate::Tool;

    #[test]
    fn every_phrase_is_a_pattern() {
        for text in PHRASES.iter().flat_map(|it| it.patterns) {
            assert!(Pattern::phrase(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_tool_that_undoes_is_called_and_without_one_it_is_said_that_there_is_none() {
        let properties = json!({ "change": { "type": "string" }, "seen": { "type": "string" } });
        let input = json!({ "type": "object", "properties": properties });
        let undo = Tool::new("undo", "Takes back a change.", input);
        for text in [
            "undo",
            "undo that",
            "undo it please",
            "undo the last change",
            "revert that",
            "take that back",
        ] {
            let Plan::Calls(calls) = plan(text, std::slice::from_ref(&undo)) else {
                panic!("{text}: no call");
            };
            assert_eq!((&*calls[0].name, &calls[0].arguments), ("undo", &json!({})));
            let Plan::Answer(answer) = plan(text, &[]) else {
                panic!("{text}: no answer");
            };
            assert!(answer.starts_with("I cannot undo"), "{text}: {answer}");
        }
    }
}
