/// The parser of the Prometheus client library for Python (Debian's python3-prometheus-client).
public enum PrometheusParser {
    /// One sample of a family.
    public struct Sample {
        /// The name with its suffix, such as `_total`.
        public let name: String
        /// The values of the labels, by name.
        public let labels: [String: String]
        /// The value of the sample.
        public let value: Double
    }

    private static let script = """
        import json, sys
        from prometheus_client.parser import text_string_to_metric_families as parse
        text = sys.stdin.buffer.read().decode()
        samples = [s for family in parse(text) for s in family.samples]
        out = [{"name": s.name, "labels": s.labels, "value": s.value} for s in samples]
        sys.stdout.write(json.dumps([s for s in out if s["value"] < 1e300]))
        """

    /// The samples in a text; throws if the text is invalid.
    public static func samples(_ text: String) throws -> [Sample] {
        let bytes = try Tool.run(["python3", "-c", script], input: Array(text.utf8))
        return try (JSONValue(parsing: bytes).array ?? []).map { sample in
            let labels = sample["labels"]
            let pairs = (labels?.names ?? []).map { ($0, labels?[$0]?.text ?? "") }
            guard case .number(let value)? = sample["value"] else {
                throw StackFailure("a sample without a value: \(sample)")
            }
            return Sample(
                name: sample["name"]?.text ?? "", labels: Dictionary(uniqueKeysWithValues: pairs),
                value: value)
        }
    }
}
