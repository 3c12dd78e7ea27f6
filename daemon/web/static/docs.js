"use strict";

/** Turns the colors of Swagger UI, which has light ones only, if the browser prefers dark ones. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const turn = () => {
  const { style } = document.documentElement;
  style.background = "#fff";
  style.filter = dark.matches ? "invert(.9) hue-rotate(180deg)" : "";
};
dark.addEventListener("change", turn);
turn();

/** Returns the document without the paths below /api that are also served without it, and with forms of text. */
function shown(spec) {
  const schemas = spec.components.schemas;
  for (const [path, operations] of Object.entries(spec.paths)) {
    if (path.startsWith("/api/") && spec.paths[path.slice("/api".length)]) delete spec.paths[path];
    for (const { requestBody } of Object.values(operations))
      for (const [media, body] of Object.entries(requestBody?.content ?? {}))
        if (/form/.test(media)) body.schema = form(schemas[body.schema?.$ref?.split("/").pop()] ?? body.schema ?? {});
  }
  return spec;
}

/** Returns a schema whose properties are text, as a form sends them; those that are not in its example are empty. */
function form({ properties = {}, examples, ...schema }) {
  const field = ([name, { description }]) => [
    name,
    { type: "string", description, default: examples?.[0]?.[name] ?? "" },
  ];
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).map(field)) };
}

fetch("/openapi.json")
  .then((response) => response.json())
  .then((spec) =>
    SwaggerUIBundle({
      spec: shown(spec),
      dom_id: "#swagger-ui",
      deepLinking: true,
      docExpansion: "list",
      validatorUrl: null, // no requests to other hosts
      requestInterceptor: (request) => {
        request.headers["X-Requested-With"] = "docs"; // so that other types than JSON are accepted
        return request;
      },
    }),
  );
