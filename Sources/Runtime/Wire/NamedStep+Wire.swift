import CMessages
import ImageModel

/// A step without a message of its own: its name, and parameters in the order of their names.
struct StepByName: WireMessage {
    var name: String
    var parameters: [String: String]

    typealias Form = Imagebus__V1__NamedStep
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_step__init }
    static var blank: Self { Self(name: "", parameters: [:]) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "NamedStep.name", limit: RequestLimits.nameBytesMax)
        try map.details(
            &parameters, ParameterLimits.self, &wire.pointee.n_parameters, &wire.pointee.parameters,
            "NamedStep.parameters", limit: RequestLimits.parametersMax)
        guard step != nil else { throw .field("NamedStep.name", .unknownValue) }
    }

    /// `nil` for a step that has a message of its own.
    init?(_ step: TransformStep) {
        guard let named = step.form as? any NamedStep else { return nil }
        (name, parameters) = (named.name, named.parameters)
    }

    private init(name: String, parameters: [String: String]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// `nil` where the name is that of no step.
    var step: TransformStep? { TransformStep(named: name, parameters: parameters) }
}

enum ParameterLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { RequestLimits.parameterBytesMax }
}
