// What managers show each other.

/** @type {Record<Api["Reaction"]["name"], string>} */
export const reactions = {
  clap: "👏", cheer: "🎉", groan: "😩", laugh: "😄", wow: "😮", hat: "🧢", ball: "⚾", heart: "❤️",
};

/** For how long one is shown, in milliseconds. */
export const reactionShown = 4e3;
