import ImageModel

/// Builds the list of steps from options in their order.
struct StepReader {
    private enum Step {
        case resize(PixelSize, ResizeMode?)
        case other(TransformStep)
    }

    private var steps: [Step] = []
    /// A `--mode` that stood before its `--resize`.
    private var pendingMode: ResizeMode?
    /// Of the environment: for every resize without a mode.
    private var defaultMode = ResizeMode.fit

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
        guard reader.pendingMode == nil else { throw UsageError("--mode needs a --resize") }
        return reader.steps.map { step in
            switch step {
            case .resize(let box, let mode): .resize(box, mode ?? reader.defaultMode)
            case .other(let step): step
            }
        }
    }

    private mutating func take(_ entry: ReadOptions.Entry) throws(UsageError) {
        switch entry.name {
        case "resize":
            steps.append(.resize(try OptionValue.size(entry.value), pendingMode))
            pendingMode = nil
        case "mode":
            let mode = try OptionValue.resizeMode(entry.value)
            if entry.origin == .environment { defaultMode = mode } else { give(mode) }
        default:
            let syntaxes = TransformStep.syntaxes
            guard let syntax = syntaxes.first(where: { $0.name == entry.name }) else { return }
            steps.append(.other(try OptionValue.step(syntax, entry.value)))
        }
    }

    /// To the last resize where that has none yet, else to the next.
    private mutating func give(_ mode: ResizeMode) {
        let last = steps.lastIndex { if case .resize = $0 { true } else { false } }
        if let last, case .resize(let box, nil) = steps[last] {
            steps[last] = .resize(box, mode)
        } else {
            pendingMode = mode
        }
    }
}
