public import ImageModel

// What pools of somebody else are granted to do with images.
extension WorkerPools {
    /// Whether they are granted that step.
    public func areGranted(step name: String) -> Bool {
        foreignTransformers { $0.steps?.contains(name) == true }
    }

    /// Whether they are granted that format of results. PAM between steps is none.
    public func areGranted(output format: ImageFormat) -> Bool {
        format != .pam && foreignTransformers { $0.formatsOut?.contains(format.name) == true }
    }

    /// Whether they are granted to decode that; `nil`: what no signature tells.
    package func isDecodedElsewhere(_ format: ImageFormat?) -> Bool {
        pools(of: .decode).contains { self[$0].trust == .foreign && self[$0].grant.decodes(format) }
    }

    /// Whether they encode what is wanted so. A format that ours encode as well goes to theirs
    /// where the request names it, and no setting but its quality: others are ours.
    package func foreignEncodes(_ output: OutputOptions) -> Bool {
        guard let format = output.format, areGranted(output: format) else { return false }
        return !format.isEncodable
            || output == OutputOptions(format: format, quality: output.quality)
    }

    private func foreignTransformers(have isMet: (WorkerCapabilities) -> Bool) -> Bool {
        pools(of: .transform).contains { self[$0].isForeignTransformer && isMet(self[$0].grant) }
    }
}
