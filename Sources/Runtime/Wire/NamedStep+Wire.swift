import CMessages
import ImageModel

extension TransformStep {
    /// A step without a message of its own.
    static func named(_ wire: Imagebus__V1__NamedStep, _ read: FieldReader) throws(WireError)
        -> TransformStep
    {
        let name = try read.text(wire.name, "NamedStep.name", limit: RequestLimits.nameBytesMax)
        let pairs = try read.list(
            wire.n_parameters, wire.parameters, "NamedStep.parameters",
            limit: RequestLimits.parametersMax
        ) { part throws(WireError) in
            (
                try read.text(part.name, "Detail.name", limit: RequestLimits.nameBytesMax),
                try read.text(part.value, "Detail.value", limit: RequestLimits.parameterBytesMax)
            )
        }
        let parameters = Dictionary(pairs) { first, _ in first }
        guard parameters.count == pairs.count else {
            throw .field("NamedStep.parameters", .duplicate)
        }
        guard let step = TransformStep(named: name, parameters: parameters) else {
            throw .field("NamedStep.name", .unknownValue)
        }
        return step
    }

    /// The same, written; parameters in the order of their names.
    func named(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__NamedStep>
    {
        let wire = try write.make(imagebus__v1__named_step__init)
        guard let step = form as? any NamedStep else { throw .field("Step.step", .missing) }
        wire.pointee.name = try write.text(
            step.name, "NamedStep.name", limit: RequestLimits.nameBytesMax)
        guard TransformStep(named: step.name, parameters: step.parameters) != nil else {
            throw .field("NamedStep.name", .unknownValue)
        }
        guard !step.parameters.isEmpty else { return wire }
        wire.pointee.n_parameters = step.parameters.count
        wire.pointee.parameters = try write.list(
            step.parameters.sorted { $0.key < $1.key }, "NamedStep.parameters",
            limit: RequestLimits.parametersMax
        ) { pair throws(WireError) in
            let detail = try write.make(imagebus__v1__detail__init)
            detail.pointee.name = try write.text(
                pair.key, "Detail.name", limit: RequestLimits.nameBytesMax)
            detail.pointee.value = try write.text(
                pair.value, "Detail.value", limit: RequestLimits.parameterBytesMax)
            return detail
        }
        return wire
    }
}
