/** The language python of the editor, in a file of its own that is loaded with the first such file. */
export { python } from "@codemirror/lang-python";
