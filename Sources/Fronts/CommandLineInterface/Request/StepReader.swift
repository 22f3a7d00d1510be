import ImageModel

/// Builds the list of steps from options in their order.
struct StepReader {
    private enum Step {
        case resize(PixelSize, Manner)
        case other(TransformStep)
    }

    /// How a resize is made, as far as options say it.
    private struct Manner {
        var mode: ResizeMode?
        var enlarges: Bool?

        /// Options that have no resize.
        var names: [String] {
            (mode == nil ? [] : ["mode"])
                + (enlarges.map { [$0 ? "enlarge" : "no-enlarge"] } ?? [])
        }

        func step(_ box: PixelSize, _ usual: Manner) -> TransformStep {
            let mode = mode ?? usual.mode ?? .fit
            return .resize(box, mode, enlarges: enlarges ?? usual.enlarges ?? mode.enlarges)
        }
    }

    private var steps: [Step] = []
    /// What stood before its `--resize`.
    private var pending = Manner()
    /// Of the environment: for every resize that says nothing.
    private var usual = Manner()

    /// Reads all options that are steps; others are left alone.
    static func steps(_ read: ReadOptions) throws(UsageError) -> [TransformStep] {
        var reader = StepReader()
        for entry in read.entries {
            do throws(UsageError) {
                try reader.take(entry)
            } catch {
                throw UsageError("\(entry.label): \(error.message)")
            }
        }
        if let name = reader.pending.names.first {
            throw UsageError("--\(name) needs a --resize")
        }
        return reader.steps.map { step in
            switch step {
            case .resize(let box, let manner): manner.step(box, reader.usual)
            case .other(let step): step
            }
        }
    }

    private mutating func take(_ entry: ReadOptions.Entry) throws(UsageError) {
        switch entry.name {
        case "resize":
            steps.append(.resize(try OptionValue.box(entry.value), pending))
            pending = Manner()
        case "mode": give(try OptionValue.resizeMode(entry.value), to: \.mode, entry)
        case "enlarge": give(true, to: \.enlarges, entry)
        case "no-enlarge": give(false, to: \.enlarges, entry)
        default:
            let syntaxes = TransformStep.syntaxes
            guard let syntax = syntaxes.first(where: { $0.name == entry.name }) else { return }
            steps.append(.other(try OptionValue.step(syntax, entry.value)))
        }
    }

    /// To the last resize where that has none yet, else to the next.
    private mutating func give<Value>(
        _ value: Value, to path: WritableKeyPath<Manner, Value?>, _ entry: ReadOptions.Entry
    ) {
        guard entry.origin != .environment else {
            usual[keyPath: path] = value
            return
        }
        let last = steps.lastIndex { if case .resize = $0 { true } else { false } }
        if let last, case .resize(let box, var manner) = steps[last],
            manner[keyPath: path] == nil
        {
            manner[keyPath: path] = value
            steps[last] = .resize(box, manner)
        } else {
            pending[keyPath: path] = value
        }
    }
}
