//! Tests of the declarations.

use super::*;

#[track_caller]
fn assert_declares(lines: &str) {
    let declarations = declarations();
    assert!(
        declarations.contains(lines),
        "{lines}\n\nin\n\n{declarations}"
    );
}

#[test]
fn messages_are_interfaces_with_their_required_fields() {
    assert_declares("/** One turn of a conversation. */\nexport interface Message {\n");
    assert_declares("  /** The conversation it belongs to. */\n  contextId?: string;\n");
    assert_declares("  messageId: string;\n");
    assert_declares("  parts: Part[];\n");
}

#[test]
fn a_choice_is_one_of_its_members() {
    assert_declares(
        "export type Part = OneOf<{\n  text: string;\n  /** Bytes, as they are in a file. */\n  raw: Base64;\n",
    );
    assert_declares("export type SendMessageResponse = OneOf<{\n");
}

#[test]
fn enumerations_are_their_names() {
    assert_declares("export type Role =\n  | \"ROLE_UNSPECIFIED\"\n  | \"ROLE_USER\"\n");
}

#[test]
fn every_row_is_a_method() {
    assert_declares(
        "  getTask(request: GetTaskRequest, parameters?: ServiceParameters): Promise<Task>;\n",
    );
    assert_declares(
        "  subscribeToTask(request: SubscribeToTaskRequest, parameters?: ServiceParameters): Promise<ReadableStream<StreamResponse>>;\n",
    );
    for operation in TABLE {
        assert_declares(&format!("  {}(request: ", method(operation)));
    }
}

#[test]
fn nothing_is_named_that_is_not_declared() {
    let declarations = declarations();
    let names = TABLE
        .iter()
        .flat_map(|row| [(row.request)(), (row.reply)()]);
    for message in names.filter(|message| !is_well_known(message)) {
        for kind in ["interface", "type"] {
            if declarations.contains(&format!("export {kind} {} ", message.name)) {
                break;
            }
            assert_ne!(kind, "type", "{} is not declared", message.name);
        }
    }
}
