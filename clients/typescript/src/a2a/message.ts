import type { Message, Part, Role } from "./types.js";

/** A part as it is sent: bytes need not be base64 yet. */
export type OutgoingPart = Part | (Omit<Part, "text" | "raw" | "url" | "data"> & { raw: Uint8Array | Blob });

/** A message as it is sent. Without an id it gets one; whoever speaks is the user. */
export interface OutgoingMessage extends Omit<Message, "messageId" | "role" | "parts"> {
  messageId?: string;
  role?: Role;
  parts: OutgoingPart[];
}

/** The message that a text or an unfinished message stands for. */
export function complete(message: string | OutgoingMessage): Message {
  const given: OutgoingMessage = typeof message === "string" ? { parts: [{ text: message }] } : message;
  // Cap'n Web has bytes, and the server takes them for base64.
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", ...given } as Message;
}
