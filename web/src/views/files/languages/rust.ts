/** The language rust of the editor, in a file of its own that is loaded with the first such file. */
export { rust } from "@codemirror/lang-rust";
