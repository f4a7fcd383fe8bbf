import type { Message, Part, Role } from "./types.js";

/** A part to send: bytes need not be encoded in base64. */
export type OutgoingPart = Part | (Omit<Part, "text" | "raw" | "url" | "data"> & { raw: Uint8Array | Blob });

/** A message to send. The id is made if it is missing; the default role is the user. */
export interface OutgoingMessage extends Omit<Message, "messageId" | "role" | "parts"> {
  messageId?: string;
  role?: Role;
  parts: OutgoingPart[];
}

/** Completes a text or a message with an id and a role. */
export function complete(message: string | OutgoingMessage): Message {
  const given: OutgoingMessage = typeof message === "string" ? { parts: [{ text: message }] } : message;
  // Cap'n Web can carry bytes; the server accepts them where the type says base64.
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", ...given } as Message;
}
