import ImageModel
import JSON
import WebGrammar

/// What a listener makes of a request target, for people who wonder why it answers as it does.
/// Pure: no sockets, no clock.
package struct TargetExplanation: Hashable, Sendable, Encodable {
    /// The status of a target that is answered without asking the stack; `nil`: the stack is asked.
    package var status: UInt16?
    /// What that answer says.
    package var answer: String?
    /// What is answered: image, source, facts.
    package var kind: String?
    /// Its URL.
    package var source: String?
    /// The steps by their keys, in their order.
    package var steps: [String] = []
    /// The format, or those among which the image decides; `nil`: that of the source.
    package var format: String?
    /// Fields of the request on which the answer depends.
    package var varies: [String] = []
    /// The text under which the result is cached, where no header of the request says more.
    package var key: String?
    /// Where it is now: memory, disk or none; `nil`: nobody was asked.
    package var cached: String?

    /// Explains what follows from the head of a request.
    package init(_ verdict: Verdict) {
        switch verdict {
        case .answer(let answer):
            status = answer.head.status
            self.answer = String(decoding: answer.body, as: UTF8.self).trimmedOfLineEnd
        case .load(let plan): explain(plan)
        }
    }

    private mutating func explain(_ plan: RequestPlan) {
        let image = plan.request.image
        kind = plan.request.kind.name
        source = image.url
        steps = image.steps.map(\.key)
        let accepted = image.output.accepted.map(\.name)
        format =
            image.output.format?.name
            ?? (accepted.isEmpty ? nil : accepted.joined(separator: " or "))
        varies = plan.varies
        key = (try? SourceURL(image.url)).map {
            CacheKey.result(image, url: $0, terms: LoadTerms())
        }
    }

    private enum Names: String, CodingKey {
        case status, answer, kind, source, steps, format, varies, key, cached
    }

    /// Every name is there; what is not known is null.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        try members.encode(status.map { Int($0) }, forKey: .status)
        try members.encode(answer, forKey: .answer)
        try members.encode(kind, forKey: .kind)
        try members.encode(source, forKey: .source)
        try members.encode(steps, forKey: .steps)
        try members.encode(format, forKey: .format)
        try members.encode(varies, forKey: .varies)
        try members.encode(key, forKey: .key)
        try members.encode(cached, forKey: .cached)
    }

    /// One JSON object, and a line end.
    package var json: String { ((try? JSONWriter.text(self)) ?? "{}") + "\n" }

    /// A line for each thing that is known.
    package var text: String {
        var lines: [(String, String)] = []
        func add(_ name: String, _ value: String?) {
            if let value { lines.append((name, value)) }
        }
        add("status", status.map { "\($0)" })
        add("answer", answer)
        add("kind", kind)
        add("source", source)
        if kind != nil {
            add("steps", steps.isEmpty ? "none" : steps.joined(separator: "\n"))
            add("format", format ?? "that of the source")
            add("varies", varies.isEmpty ? "no" : varies.joined(separator: ", "))
        }
        add("key", key)
        add("cached", cached)
        return lines.map { name, value in
            let padded = name + String(repeating: " ", count: 9 - name.count)
            let indent = "\n" + String(repeating: " ", count: 9)
            return padded + value.split(separator: "\n").joined(separator: indent) + "\n"
        }.joined()
    }
}

extension WebRequest.Kind {
    fileprivate var name: String {
        switch self {
        case .image: "image"
        case .source: "source"
        case .facts: "facts"
        case .redirect: "redirect"
        }
    }
}

extension String {
    fileprivate var trimmedOfLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
