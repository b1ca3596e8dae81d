// SPDX-License-Identifier: Apache-2.0
// evaluate.mjs CEL - evaluates a ValidatingAdmissionPolicy for requests, as an API server does.
// CEL: the folder of the npm package that knows the language. A line of standard input has {policy,
// requests}, one of standard output a list: for each request the messages of the validations that are
// not met, or null if the policy is not about it.
import {createInterface} from 'node:readline'

const {evaluate} = await import(`${process.argv[2]}/lib/index.js`)

// Variables are made when they are asked for: one that no validation comes to may be in error.
function withVariables(policy, request) {
	const context = {...request, variables: {}}

	for (const {name, expression} of policy.spec.variables)
		Object.defineProperty(context.variables, name, {
			get: () => evaluate(expression, context), enumerable: true})
	return context
}

// failurePolicy is Fail.
function says(expression, message, context) {
	try {
		return evaluate(expression, context) === true ? [] : [message]
	} catch (error) {
		return [`expression resulted in error: ${error.message}`]
	}
}

function judge(policy, request) {
	if (!policy.spec.matchConditions.every(({expression}) => evaluate(expression, request)))
		return null
	const context = withVariables(policy, request)
	return policy.spec.validations.flatMap(({expression, message}) => says(expression, message, context))
}

for await (const line of createInterface({input: process.stdin})) {
	const {policy, requests} = JSON.parse(line)
	console.log(JSON.stringify(requests.map((request) => judge(policy, request))))
}
