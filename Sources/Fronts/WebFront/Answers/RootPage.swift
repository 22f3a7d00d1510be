/// What a listener answers to `/`, which people open to see whether it works.
package struct RootPage: Hashable, Sendable {
    /// What its paths are called: imgproxy, thumbor or IIIF.
    package let grammar: String
    /// A target that it would read, without a signature; `nil` where its paths are signed.
    package let example: String?
    /// Where the page of its URLs is, in the documents of the project.
    private static let documentation = "Proto/WEB.md"

    /// Names the grammar, and an example where anybody may ask.
    package init(grammar: String, example: String?) {
        (self.grammar, self.example) = (grammar, example)
    }

    /// A page with the example; without one, a 404 that names the documentation.
    func answer(_ answers: ImageAnswer, asJSON: Bool) -> TextAnswer {
        guard let example else {
            return answers.failure(
                404, "notFound",
                "this is an image server for signed \(grammar) URLs, and / is none: imagebus url "
                    + "makes one; \(Self.documentation) of Imagebus says what URLs say",
                asJSON: asJSON)
        }
        var page = answers.sentence(200, "")
        page.head.set("Content-Type", "text/html; charset=utf-8")
        page.head.fields.append(
            AnswerHead.Field("Content-Security-Policy", "default-src 'none'"))
        page.body = Array(html(example).utf8)
        return page
    }

    private func html(_ example: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Imagebus</title>
        <h1>Imagebus answers \(grammar) URLs here</h1>
        <p>Put the URL of an image of yours in the place of the one in this example:</p>
        <pre>\(Self.escaped(example))</pre>
        <p><code>imagebus url explain URL</code> says what becomes of one;
        <code>\(Self.documentation)</code> of Imagebus describes them all.</p>
        </html>

        """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
